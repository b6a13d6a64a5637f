// why: explains in sentences what is wrong with an object, which attempts have failed, and how to fix it.
import type { FlowEvent } from '../../base/observability/flow-recorder.ts'
import type { ResourceType } from '../../api/kind/kind.ts'
import type { ApiObject } from '../../api/meta/object.ts'
import type { ClusterReader } from './explainer/cluster-reader.ts'
import { plural } from './explainer/explainer.ts'
import { info, note, worst, type Finding, type Severity } from './explainer/finding.ts'
import { failedAttempts } from './failed-attempts.ts'
import { explainerOf, findingsOf } from './findings-of.ts'
import { responsibilityFor, type Responsibility } from './responsible-component.ts'

export interface Why {
  /** `info` where nothing is wrong. */
  readonly severity: Severity
  /** What is wrong with the object, what it waits for, and what is worth knowing. Lines of a log follow their sentence. */
  readonly waits: readonly string[]
  /** Warning events and failed requests, newest first. */
  readonly tried: readonly string[]
  /** If nothing is wrong: what was checked, or that there is nothing to check. Otherwise empty. */
  readonly summary: string
  /** Remarks beside the answer: which nodes are simulated, and what could not be read. */
  readonly notes: readonly string[]
  /** Commands that fix the problems, the most important first. Words in capitals are to be replaced. */
  readonly fixes: readonly string[]
}

/** Commands that are offered. */
const fixesMax = 3

export async function why(
  kind: ResourceType,
  object: ApiObject,
  cluster: ClusterReader,
  recorded: readonly FlowEvent[],
): Promise<Why> {
  const found = await findingsOf(kind, object, cluster, recorded)
  const acting = cluster.isCoxswain === false ? undefined : responsibilityFor(kind, object)
  const findings = [...found, ...(acting?.kind === 'unserved' ? [info(acting.sentence)] : [])]
  const tried = await failedAttempts(kind, object, findings, cluster, recorded)
  const answers = findings.filter((each) => !each.isNote)
  const notes = findings.filter((each) => each.isNote)
  return {
    severity: worst(findings),
    waits: findingTexts(answers),
    tried,
    summary:
      answers.length > 0
        ? ''
        : summaryOf(object, acting, explainerOf(kind)?.checked ?? 'its conditions and its owners'),
    notes: findingTexts([...notes, ...unreadableNote(cluster)]),
    fixes: fixesOf(findings),
  }
}

/** An answer must not seem complete where the user may not read everything. */
export function unreadableNote({ unreadable }: { readonly unreadable?: ReadonlySet<string> | undefined }): Finding[] {
  const resources = [...(unreadable ?? [])]
  return resources.length === 0 ? [] : [note(`Not checked, because you may not read them: ${resources.join(', ')}.`)]
}

export const fixesOf = (findings: readonly Finding[]): readonly string[] =>
  [...new Set(findings.flatMap(({ fix }) => fix ?? []))].slice(0, fixesMax)

/** Equal findings once, with a count; each followed by its lines of a log. */
export function findingTexts(findings: readonly Finding[]): string[] {
  const same = Map.groupBy(findings, ({ text }) => text)
  return [...same].map(([text, all]) => {
    const { lines = [], command = '' } = all.find((each) => each.output !== undefined)?.output ?? {}
    const counted = all.length === 1 ? text : `${text} (${plural(all.length, 'time')})`
    return [
      counted,
      ...(lines.length === 0 ? [] : [`Its last output, of ${command}:`]),
      ...lines.map((line) => `| ${line}`),
    ].join('\n')
  })
}

/** Claims no more than was checked. */
function summaryOf(object: ApiObject, acting: Responsibility | undefined, checked: string): string {
  const { status } = object as { status?: unknown }
  if (acting === undefined && status === undefined)
    return 'It has no status: no controller has reported on it, or its kind needs none. No warning events and failed requests.'
  if (acting?.kind === 'data') return `It is stored. ${acting.readers}; no component has to act on it.`
  return `No problem found. Checked: ${checked}, warning events, failed requests.`
}
