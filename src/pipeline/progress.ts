/** Told at each stage and file, so that a deadline can say where a deploy hung.
 *  `stage` is a word or two for a person: "unpacking", "listing". */
export type Progress = (stage: string, file?: string) => void;
