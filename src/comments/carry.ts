/** The door for whoever moves a live pointer: passages go along from the text where they were found to the new one. */
export { carry } from "./carrying/texts.ts";
export { carryThreads, type ReviewThread } from "./carrying/threads.ts";
