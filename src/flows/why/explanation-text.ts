// explanationText: an explanation as lines for a terminal, the web page and the report of a test. Names, messages and logs come
// from objects and containers: they can neither control the terminal nor begin a line of their own.
import { withoutControls } from './explainer/log-excerpt.ts'
import type { Why } from './why.ts'

/** Sentences, remarks and commands, without the failed attempts. */
export const explanationLines = ({
  waits,
  notes,
  fixes,
}: Pick<Why, 'waits' | 'notes' | 'fixes'>): readonly string[] => [...waits, ...notes, ...fixes.map(fixText)]

const fixText = (command: string): string => `Fix: ${printable(command)}`

const printable = (text: string): string => withoutControls(text).replaceAll('\n', '\n  ')

/** `decided` is the scheduler's decision as text. The commands come last. */
export function explanationText(
  title: string,
  { waits, tried, summary, notes, fixes }: Omit<Why, 'severity'>,
  decided = '',
): string {
  const sentences = [...(waits.length === 0 ? [summary] : waits), ...notes]
  const sections = [
    `${title}\n${indented(sentences)}`,
    ...(tried.length === 0 ? [] : [`What was tried:\n${indented(tried)}`]),
    ...(decided === '' ? [] : [decided]),
    ...(fixes.length === 0 ? [] : [fixes.map((command) => `${fixText(command)}\n`).join('')]),
  ]
  return sections.join('\n')
}

export const indented = (sentences: readonly string[]): string =>
  sentences.map((sentence) => `  ${printable(sentence)}\n`).join('')
