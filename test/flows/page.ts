// The page of a flow: its diagram is recorded by a test, never drawn by hand. RECORD_FLOWS=1 rewrites it.
import { equal, match } from 'node:assert/strict'
import { access, readFile, writeFile } from 'node:fs/promises'
import { arrows } from '../../src/base/observability/flow-recorder.ts'
import { hasFailed } from '../../src/flows/diagram-colors.ts'
import type { DrawnMessage } from '../../src/flows/svg/drawn-message.ts'
import { svgDiagram } from '../../src/flows/svg/svg-diagram.ts'
import { getOrInsert } from '../../src/base/collections/get-or-insert.ts'

/** The lines of a recorded flow about these participants and objects, with their causes, without variable values. */
export function excerpt(flow: string, ...wanted: RegExp[]): string {
  const lines = withCauses(flow.split('\n'), (line) => wanted.some((pattern) => pattern.test(line)))
  const distinct = settled(reindented(lines).join('\n')).split('\n')
  return distinct.filter((line, index) => line !== distinct[index - 1]).join('\n')
}

/** The selected lines and those above them in the tree. */
function withCauses(lines: readonly string[], isWanted: (line: string) => boolean): string[] {
  let above = -1
  return lines
    .toReversed()
    .filter((line) => {
      const depth = depthOf(line)
      const isCause = depth < above
      if (isCause || isWanted(line)) above = depth
      return isCause || isWanted(line)
    })
    .toReversed()
}

/** Indents each line one level below its cause, however many lines between them are omitted. */
function reindented(lines: readonly string[]): string[] {
  const above: number[] = []
  return lines.map((line) => {
    const depth = depthOf(line)
    while ((above.at(-1) ?? -1) >= depth) above.pop()
    const level = above.push(depth) - 1
    return `${line.slice(0, timeWidth)}${'  '.repeat(level)}${line.slice(timeWidth + depth)}`
  })
}

const generated = /\b([a-z][\w-]*?)-(?:(HASH{6,10})(?:-(HASH{5}|\*))?|(HASH{5}))(?![\w-])/.source
const generatedName = new RegExp(generated.replaceAll('HASH', '[bcdfghjklmnpqrstvwxz2456789]'), 'g')

/**
 * A diagram without values that depend on unrelated objects or components: revisions and counts are omitted, and
 * generated names are numbered in order of appearance (`web-a-2` is the second pod of the first template).
 */
export function settled(flow: string): string {
  const letters = new Map<string, string>()
  const numbers = new Map<string, Map<string, number>>()
  const withNumber = (owner: string, id: string): string => {
    const known = getOrInsert(numbers, owner, () => new Map<string, number>())
    return id === '*' ? `${owner}-*` : `${owner}-${getOrInsert(known, id, () => known.size + 1)}`
  }
  return flow
    .replaceAll(/ @\d+$/gm, '')
    .replaceAll(/ {2}×\d+ similar$/gm, '')
    .replaceAll(generatedName, (_, owner: string, hash?: string, idOfHash?: string, id?: string) => {
      if (hash === undefined) return withNumber(owner, id ?? '')
      const template = `${owner}-${getOrInsert(letters, hash, () => String.fromCharCode(97 + letters.size))}`
      return idOfHash === undefined ? template : withNumber(template, idOfHash)
    })
}

const timeWidth = 11
const depthOf = (line: string): number => line.slice(timeWidth).search(/\S/)

/** Omits these lines, their effects, and deliveries and reconciles that then have no effect. */
export function without(flow: string, unwanted: RegExp): string {
  const visible: string[] = []
  let hiddenDepth = Infinity
  for (const line of flow.split('\n')) {
    const depth = depthOf(line)
    if (depth > hiddenDepth) continue
    hiddenDepth = unwanted.test(line) ? depth : Infinity
    if (hiddenDepth === Infinity) visible.push(line)
  }
  const hasEffect = (line: string, index: number) =>
    !/ (--►|···►)/.test(line) || depthOf(visible[index + 1] ?? '') > depthOf(line)
  const next = visible.filter(hasEffect).join('\n')
  return next === flow ? flow : without(next, unwanted)
}

/** From the first line with this text; `last` from the last one. */
export function since(flow: string, words: string, which: 'first' | 'last' = 'first'): string {
  const at = which === 'first' ? flow.indexOf(words) : flow.lastIndexOf(words)
  return at < 0 ? '' : flow.slice(flow.lastIndexOf('\n', at) + 1)
}

/** Asserts that the arrows occur in this order. */
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

const signs = {
  '──►': 'call',
  '--►': 'watch',
  '══►': 'persist',
  '···►': 'reconcile',
  '···': 'step',
  '╌╌►': 'call',
} as const
const line = /^ *\+(\d+)ms +(.+?) (──►|--►|══►|···►|···|╌╌►)(?: (.+?))?: (.*)$/ // linear: lines of this test's own diagrams

/** The messages of a recorded diagram, as the renderer draws them. */
export function drawnLines(diagram: string): DrawnMessage[] {
  return diagram.split('\n').flatMap((text, id) => {
    const [, ms, from = '', sign = '', to = from, what = ''] = line.exec(text) ?? []
    if (ms === undefined) return []
    const arrow = arrows.find((one) => one === signs[sign as keyof typeof signs]) ?? 'call'
    const outcome = what.includes(' → ') && arrow === 'call' ? what.slice(what.lastIndexOf(' → ') + 3) : undefined
    const failed = hasFailed({ arrow, to, what, outcome })
    return [
      { id, arrow, from, to, afterMs: Number(ms), text: what, count: 1, isInferred: sign === '╌╌►', hasFailed: failed },
    ]
  })
}

/** A case that no diagram of the page shows, and the tests that cover it. */
export type Elsewhere = readonly [path: string, outcome: string, ...shownBy: string[]]

const tableOf = (rows: readonly Elsewhere[]): string =>
  [
    '## Shown elsewhere\n',
    '| case | what happens | shown by |\n|---|---|---|',
    ...rows.map(
      ([path, outcome, ...shownBy]) => `| ${path} | ${outcome} | ${shownBy.map((file) => `\`${file}\``).join(', ')} |`,
    ),
    '',
  ].join('\n')

export async function comparePage(
  name: string,
  title: string,
  sections: readonly Section[],
  elsewhere: readonly Elsewhere[] = [],
): Promise<void> {
  for (const file of elsewhere.flatMap(([, , ...shownBy]) => shownBy))
    await access(new URL(`../../${file}`, import.meta.url))
  const body = sections.map(
    ({ heading, text, diagram }) => `## ${heading}\n\n${text}\n\n\`\`\`\n${diagram.trimEnd()}\n\`\`\`\n`,
  )
  const [first] = sections
  const drawing = svgDiagram(drawnLines(first?.diagram ?? ''), { title: `${title}: ${first?.heading}` })
  const page = [
    `# ${title}\n`,
    `Recorded by \`test/flows/${name}.test.ts\`.\n`,
    `![${title}: ${first?.heading}](${name}.svg)\n`,
    ...body,
    ...(elsewhere.length === 0 ? [] : [tableOf(elsewhere)]),
  ].join('\n')
  const texts = { md: page, svg: drawing }
  for (const [extension, text] of Object.entries(texts)) {
    const file = new URL(`../../docs/flows/${name}.${extension}`, import.meta.url)
    if (process.env['RECORD_FLOWS'] !== undefined) await writeFile(file, text)
    equal(text, await readFile(file, 'utf8'))
  }
}
