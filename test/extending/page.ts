// The examples of docs/extending.md as changes of the source tree: new files, and lines that are inserted into lists.

export type PageChange =
  | { readonly kind: 'new'; readonly path: string; readonly text: string }
  /** Each line follows its `after`, which is in the file once. */
  | { readonly kind: 'insert'; readonly path: string; readonly lines: readonly InsertedLines[] }

export interface InsertedLines {
  readonly after: string
  readonly lines: readonly string[]
}

export const changesOf = (page: string): PageChange[] =>
  [...page.matchAll(/^```(ts|diff) (\S+)\n([^]*?)^```$/gm)].map(([, type, path = '', text = '']) =>
    type === 'ts' ? { kind: 'new', path, text } : { kind: 'insert', path, lines: insertedLines(path, text) },
  )

function insertedLines(path: string, text: string): InsertedLines[] {
  const found: { after: string; lines: string[] }[] = []
  for (const line of text.trimEnd().split('\n')) {
    const content = line.slice(1)
    if (line.startsWith(' ')) found.push({ after: content, lines: [] })
    else if (line.startsWith('+')) found.at(-1)?.lines.push(content)
    else throw new Error(`${path}: ${JSON.stringify(line)} is neither context nor an addition`)
  }
  return found
}

export function withInsertedLines(path: string, text: string, inserted: readonly InsertedLines[]): string {
  const lines = text.split('\n')
  for (const { after, lines: added } of inserted) {
    const at = lines.indexOf(after)
    if (at < 0 || lines.includes(after, at + 1))
      throw new Error(`${path}: the line ${JSON.stringify(after)} must be there once`)
    lines.splice(at + 1, 0, ...added)
  }
  return lines.join('\n')
}
