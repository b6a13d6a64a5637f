// Reads a stream of JSON lines in batches: all lines of a chunk are passed on together.

/** A line that is longer ends the stream. */
const lineCharsMax = 16 << 20

export async function readJsonLines(
  body: ReadableStream<Uint8Array>,
  onLines: (values: readonly unknown[]) => void,
): Promise<void> {
  await readText(body, lineReader(onLines))
}

/** Passes the text of a stream on as it arrives. */
export async function readText(body: ReadableStream<Uint8Array>, onText: (text: string) => void): Promise<void> {
  const reader = body.getReader()
  const decoder = new TextDecoder()
  for (;;) {
    const { done, value } = await reader.read()
    if (done) return
    onText(decoder.decode(value, { stream: true }))
  }
}

/** Collects text and calls back with the values of complete lines. Empty lines are ignored. */
export function lineReader(onLines: (values: readonly unknown[]) => void): (text: string) => void {
  let rest = ''
  return (text) => {
    const lines = (rest + text).split('\n')
    rest = lines.pop() ?? ''
    if (rest.length > lineCharsMax) throw new Error(`a line is longer than ${lineCharsMax} characters`)
    const values = lines.filter((line) => line !== '').map((line): unknown => JSON.parse(line))
    if (values.length > 0) onLines(values)
  }
}
