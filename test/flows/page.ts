// The page of a flow: its diagram as a test recorded it, never drawn by hand. RECORD_FLOWS=1 writes it anew.
import { equal, match } from 'node:assert/strict'
import { readFile, writeFile } from 'node:fs/promises'

/** The lines of a recorded flow that concern these participants and objects; ids, hashes and revisions aside. */
export const excerpt = (flow: string, ...wanted: RegExp[]): string =>
  flow
    .split('\n')
    .filter((line) => wanted.some((pattern) => pattern.test(line)))
    .map(normalLine)
    .filter((line, index, all) => line !== all[index - 1])
    .join('\n')

const suffix = '[bcdfghjklmnpqrstvwxz2456789]'

const normalLine = (line: string): string =>
  line
    .replace(/ @\d+$/, '')
    .replace(/ {2}×\d+ alike$/, '')
    .replaceAll(new RegExp(`web-${suffix}{6,10}-(${suffix}{5}|\\*)`, 'g'), 'web-<hash>-<id>')
    .replaceAll(new RegExp(`web-${suffix}{6,10}`, 'g'), 'web-<hash>')
    .replaceAll(new RegExp(`web-${suffix}{5}\\b`, 'g'), 'web-<id>')

/** From the first line with these words; `last` from the last one. */
export function since(flow: string, words: string, which: 'first' | 'last' = 'first'): string {
  const at = which === 'first' ? flow.indexOf(words) : flow.lastIndexOf(words)
  return at < 0 ? '' : flow.slice(flow.lastIndexOf('\n', at) + 1)
}

/** The arrows must be there, in this order. */
export function inOrder(flow: string, ...steps: RegExp[]): void {
  let rest = flow
  for (const step of steps) {
    match(rest, step)
    rest = rest.slice(rest.search(step) + 1)
  }
}

export interface Section {
  readonly heading: string
  readonly text: string
  readonly diagram: string
}

export async function comparePage(name: string, title: string, sections: readonly Section[]): Promise<void> {
  const body = sections.map(
    ({ heading, text, diagram }) => `## ${heading}\n\n${text}\n\n\`\`\`\n${diagram.trimEnd()}\n\`\`\`\n`,
  )
  const page = [`# ${title}\n`, `Recorded by \`test/flows/${name}.test.ts\`.\n`, ...body].join('\n')
  const file = new URL(`../../docs/flows/${name}.md`, import.meta.url)
  if (process.env['RECORD_FLOWS'] !== undefined) await writeFile(file, page)
  equal(page, await readFile(file, 'utf8'))
}
