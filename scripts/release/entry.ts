/** A file of an archive. */
export interface Entry {
  name: string;
  bytes: Uint8Array;
  /** Permissions as Unix has them. */
  mode: number;
}
