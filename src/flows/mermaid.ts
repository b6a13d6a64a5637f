// A flow as a Mermaid sequence diagram, for pages that draw those.
import type { Arrow } from '../base/flow.ts'
import type { FlowNode } from './flow-graph.ts'
import { wordsOf } from './fold.ts'
import { messagesOf } from './lifelines.ts'
import type { DiagramOptions } from './text-diagram.ts'

// Mermaid has no double line: what is persisted says so by its revision.
const arrows: Readonly<Record<Arrow, string>> = {
  call: '->>',
  watch: '-->>',
  persist: '-)',
  reconcile: '-->>',
  step: '->>',
}

/** A call whose cause is inferred: its sender does not say. */
const inferredArrow = '--)'

/** Characters that end a statement, or begin an entity, in Mermaid. */
const escaped = (text: string): string => text.replaceAll('#', '#35;').replaceAll(';', '#59;')

export function mermaidDiagram(roots: readonly FlowNode[], options: DiagramOptions = { fold: true }): string {
  const messages = messagesOf(roots, options)
  const names = [...new Set(messages.flatMap(({ event }) => [event.from, event.to]))]
  const alias = (name: string) => `p${names.indexOf(name)}`
  return [
    'sequenceDiagram',
    ...names.map((name) => `  participant ${alias(name)} as ${escaped(name)}`),
    ...messages.map(({ event, count, isInferred }) => {
      const times = count > 1 ? ` ×${count}` : ''
      const arrow = isInferred ? inferredArrow : arrows[event.arrow]
      return `  ${alias(event.from)}${arrow}${alias(event.to)}: ${escaped(wordsOf(event))}${times}`
    }),
    '',
  ].join('\n')
}
