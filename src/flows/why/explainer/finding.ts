// Finding: one thing that is wrong with an object, or that is worth knowing about it.
import type { ApiObject } from '../../../api/meta/object.ts'

/**
 * critical: other objects or all users are affected; error: the object does not do what it is for; warning: it works in
 * part, waits for something, or only follows from another problem; info: nothing is wrong.
 */
export const severities = ['critical', 'error', 'warning', 'info'] as const
export type Severity = (typeof severities)[number]

export interface Finding {
  readonly severity: Severity
  /** One or more sentences. */
  readonly text: string
  /** The last lines of a container's output, and the command that prints all of it. */
  readonly output?: { readonly lines: readonly string[]; readonly command: string }
  /** The command that fixes it. Words in capitals are to be replaced. */
  readonly fix?: string
  /** A remark that does not answer the question, such as that a node is simulated. */
  readonly isNote?: true
  /** Reasons of warning events, and beginnings of calls, that report the same. They are not repeated. */
  readonly covers?: readonly string[]
  /** The object behind the finding, such as a pod of a Deployment: its warning events are part of the explanation. */
  readonly about?: ApiObject
}

type Details = Omit<Finding, 'severity' | 'text'>

const finding =
  (severity: Severity) =>
  (text: string, details: Details = {}): Finding => ({ severity, text, ...details })

export const critical = finding('critical')
export const problem = finding('error')
export const warning = finding('warning')
export const info = finding('info')

/** A remark beside the answer. */
export const note = (text: string): Finding => info(text, { isNote: true })

/** The details of a problem for which there may be a command. */
export const withFix = (fix: string | undefined): Pick<Finding, 'fix'> => (fix === undefined ? {} : { fix })

/** Sentences that all report an error. */
export const problems = (sentences: readonly string[]): Finding[] => sentences.map((text) => problem(text))

/** The most severe of all; `info` if there are none. */
export const worst = (findings: readonly Pick<Finding, 'severity'>[]): Severity =>
  severities.find((severity) => findings.some((each) => each.severity === severity)) ?? 'info'

/** One finding for several, with the details of the first one that has them. */
export function together(findings: readonly Finding[]): Finding {
  const first = <K extends keyof Details>(name: K) => {
    const found = findings.find((each) => each[name] !== undefined)?.[name]
    return found === undefined ? {} : ({ [name]: found } as Pick<Finding, K>)
  }
  return {
    severity: worst(findings),
    text: findings.map(({ text }) => text).join(' '),
    ...first('output'),
    ...first('fix'),
    ...first('about'),
    covers: findings.flatMap(({ covers = [] }) => covers),
  }
}
