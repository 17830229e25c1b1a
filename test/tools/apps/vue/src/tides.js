/** Hours and minutes of high water: invented, as every number here. */
export const tides = {
  "Low Harbour": ["03:12", "15:40"],
  "Gull Point": ["04:05", "16:31"],
  "Old Quay": ["05:27", "17:58"],
};
