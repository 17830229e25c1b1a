/** `DATA/brands.txt`: brands that phishing pages borrow. Made at the first start, the operator's own afterwards. */
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const fileOf = (data_dir: string): string => join(data_dir, "brands.txt");

export const FIRST_BRANDS = `# Brands that a page with a password field may not show itself as, in its title, logo or icon.
# One a line: the name, then the brand's own domains. A name of several words stands in quotes.
# Read at each deploy; svc-server never changes this file once it is here.
PayPal paypal.com paypal.me paypalobjects.com
Microsoft microsoft.com microsoftonline.com live.com office.com outlook.com msftauth.net
"Office 365" microsoft.com office.com microsoftonline.com
Google google.com youtube.com gmail.com gstatic.com googleusercontent.com
Gmail gmail.com google.com
Apple apple.com icloud.com mzstatic.com
iCloud icloud.com apple.com
Amazon amazon.com amazon.co.uk amazon.de amazon.fr amazon.co.jp amazonaws.com media-amazon.com ssl-images-amazon.com
Facebook facebook.com fb.com fbcdn.net meta.com
Instagram instagram.com cdninstagram.com
WhatsApp whatsapp.com whatsapp.net
LinkedIn linkedin.com licdn.com
Netflix netflix.com nflxext.com
DHL dhl.com dhl.de
FedEx fedex.com
USPS usps.com
Coinbase coinbase.com
Binance binance.com
MetaMask metamask.io
"Trust Wallet" trustwallet.com
DocuSign docusign.com docusign.net
Dropbox dropbox.com
Adobe adobe.com
"Wells Fargo" wellsfargo.com
"Bank of America" bankofamerica.com
HSBC hsbc.com hsbc.co.uk
`;

export function prepareBrands(data_dir: string): void {
  if (!existsSync(fileOf(data_dir))) writeFileSync(fileOf(data_dir), FIRST_BRANDS, { mode: 0o600 });
}

/** Empty where the operator has taken the file away: then there are none until the next start. */
export function readBrands(data_dir: string): string {
  try {
    return readFileSync(fileOf(data_dir), "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return "";
    throw error;
  }
}
