// failedAttempts: the warning events about an object and its pods, and its failed requests, the newest first. What a finding
// reports already is not repeated.
import { event, type Event } from '../../api/core/v1/event.ts'
import type { ResourceType } from '../../api/kind/kind.ts'
import { namespaceOf, type ApiObject } from '../../api/meta/object.ts'
import { isRead } from '../../base/observability/background-events.ts'
import type { FlowEvent } from '../../base/observability/flow-recorder.ts'
import type { ClusterReader } from './explainer/cluster-reader.ts'
import { plural } from './explainer/explainer.ts'
import type { Finding } from './explainer/finding.ts'
import { lastSeen, newestFirst, timesSeen } from './pods/pod-warnings.ts'

const attemptsMax = 10

export async function failedAttempts(
  kind: ResourceType,
  object: ApiObject,
  findings: readonly Finding[],
  cluster: ClusterReader,
  recorded: readonly FlowEvent[],
): Promise<readonly string[]> {
  const events = await cluster.list(event, namespaceOf(object) || 'default')
  const about = [object, ...findings.flatMap(({ about: behind }) => behind ?? [])]
  const uids = new Set(about.map(({ metadata }) => metadata.uid))
  const covered = findings.flatMap(({ covers = [] }) => covers)
  const warnings = events.filter(
    ({ involvedObject, type, reason = '' }) =>
      type === 'Warning' && uids.has(involvedObject.uid ?? '') && !covered.includes(reason),
  )
  const calls = recorded.filter(({ what }) => !covered.some((beginning) => what.startsWith(beginning)))
  return [...warningSentences(object, warnings, findings), ...failedCalls(kind, object, calls)].slice(0, attemptsMax)
}

/** Masks generated names: `"web-x7k2p"` becomes `"web-*"`. */
const maskGeneratedNames = (text: string, maker: string): string =>
  text
    .split('"')
    .map((part) => (part.startsWith(`${maker}-`) ? `${maker}-*` : part))
    .join('"')

const combinedMark = '(combined from similar events): '
const creatingMark = 'Error creating: '

/** Similar events together. Messages that are part of a finding are not repeated. */
function warningSentences({ metadata }: ApiObject, events: readonly Event[], findings: readonly Finding[]): string[] {
  const similar = Map.groupBy(newestFirst(events), ({ reason = 'Warning', message = '', involvedObject }) => {
    const { name = '', kind = '', uid } = involvedObject
    const text = maskGeneratedNames(message.replace(combinedMark, ''), name)
    const isKnown = findings.some((finding) =>
      maskGeneratedNames(finding.text, name).includes(text.replace(creatingMark, '')),
    )
    const who = uid === metadata.uid ? '' : `${kind} ${name}: `
    return isKnown ? `${who}${reason}, as above` : `${who}${reason}: ${text}`
  })
  return [...similar].map(([text, same]) => {
    const times = same.reduce((sum, each) => sum + timesSeen(each), 0)
    return `${text} (${times > 1 ? `${plural(times, 'time')}, last ` : ''}${same.map(lastSeen)[0]})`
  })
}

/** Successful outcomes of requests, calls to runtimes, probes and webhooks. */
const succeeded = (outcome = ''): boolean => /^[123]\d\d\b|^(ok|allowed|patched)$/.test(outcome)

/** Most calls are named by a verb; probes are not. */
const attemptText = ({ from, what }: FlowEvent): string =>
  / probe of container /.test(what) ? `${from} ran the ${what}` : `${from} tried to ${what}`

/** Requests about the object that failed and have not succeeded since; similar ones together. */
function failedCalls(kind: ResourceType, { metadata }: ApiObject, recorded: readonly FlowEvent[]): string[] {
  const isAbout = ({ arrow, what, outcome, object }: FlowEvent): boolean =>
    arrow === 'call' &&
    outcome !== undefined &&
    !isRead(what) &&
    object?.resource === kind.plural &&
    object.name === metadata.name &&
    object.namespace === (metadata.namespace ?? '')
  const attempts = Map.groupBy(recorded.filter(isAbout), attemptText)
  const failed = [...attempts].flatMap(([text, calls]) => {
    const since = calls.slice(calls.findLastIndex(({ outcome }) => succeeded(outcome)) + 1)
    return [...Map.groupBy(since, ({ outcome }) => `${text}: ${outcome ?? ''}`)]
  })
  return failed
    .map(([text, calls]) => (calls.length === 1 ? text : `${text} (${plural(calls.length, 'time')})`))
    .toReversed()
}
