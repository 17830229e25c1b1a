/** The number of the renderer that makes pages of uploads: Markdown's and lists of files. It goes up by one with each change that a reader
 *  would see; test/markdown/renderer.test.ts fails until it does. Stored versions keep their pages (BEYOND 15). */
export const RENDERER = 1;
