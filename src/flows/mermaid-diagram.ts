// A flow as a Mermaid sequence diagram.
import type { Arrow } from '../base/observability/flow-recorder.ts'
import type { FlowNode } from './flow-graph.ts'
import { eventText } from './fold-branches.ts'
import { messagesOf, type FlowMessage } from './flow-messages.ts'
import type { DiagramOptions } from './text-diagram.ts'

// Mermaid has no double line for `persist`; the revision in the text shows it.
const arrows: Readonly<Record<Arrow, string>> = {
  call: '->>',
  watch: '-->>',
  persist: '-)',
  reconcile: '-->>',
  step: '->>',
}

/** For calls whose cause is inferred. */
const inferredArrow = '--)'

/** Characters that end a statement, begin an entity or are markup in Mermaid become entities, and line breaks spaces. */
const escaped = (text: string): string =>
  text.replaceAll(/\p{Cc}+/gu, ' ').replaceAll(/[#;<>&"]/g, (character) => `#${character.charCodeAt(0)};`)

/** Writes the statements of one message at a time; a participant is declared when it first appears. */
export class MermaidStatements {
  readonly #names: string[] = []

  draw({ event, count, isInferred }: FlowMessage): string[] {
    const declared = this.introduce([event.from, event.to])
    const times = count > 1 ? ` ×${count}` : ''
    const arrow = isInferred ? inferredArrow : arrows[event.arrow]
    return [
      ...declared,
      `  ${this.#alias(event.from)}${arrow}${this.#alias(event.to)}: ${escaped(eventText(event))}${times}`,
    ]
  }

  /** Declares new participants. */
  introduce(names: readonly string[]): string[] {
    const fresh = [...new Set(names)].filter((name) => !this.#names.includes(name))
    this.#names.push(...fresh)
    return fresh.map((name) => `  participant ${this.#alias(name)} as ${escaped(name)}`)
  }

  #alias(name: string): string {
    return `p${this.#names.indexOf(name)}`
  }
}

/** The first line of every diagram. */
export const mermaidHead = 'sequenceDiagram'

export function mermaidDiagram(roots: readonly FlowNode[], options: DiagramOptions = { fold: true }): string {
  const statements = new MermaidStatements()
  const messages = messagesOf(roots, options)
  const declared = statements.introduce(messages.flatMap(({ event }) => [event.from, event.to]))
  return [mermaidHead, ...declared, ...messages.flatMap((message) => statements.draw(message)), ''].join('\n')
}
