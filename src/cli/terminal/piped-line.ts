/** What a program pipes in, up to the end of its first line: it may keep the pipe open. */
export async function pipedLine(): Promise<string> {
  const { stdin } = process;
  const decoder = new TextDecoder();
  let text = "";
  for await (const chunk of stdin as AsyncIterable<Uint8Array>) {
    text += decoder.decode(chunk, { stream: true });
    if (text.includes("\n")) break;
  }
  stdin.destroy();
  return text.split(/\r?\n/, 1)[0]!;
}
