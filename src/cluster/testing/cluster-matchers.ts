// Matchers for `expect` of Jest and Vitest, about objects of a test's cluster. They wait in the cluster's time, and explain an
// object that does not come to what is expected.
import { event as eventKind } from '../../api/core/v1/event.ts'
import { hasReason } from '../../api/errors/status-error.ts'
import type { ResourceType } from '../../api/kind/kind.ts'
import type { ApiObject } from '../../api/meta/object.ts'
import { TestCluster } from './test-cluster.ts'

export interface MatcherOptions {
  /** `default` when left out. */
  readonly namespace?: string
  /** How much of the cluster's time may pass; `1m` when left out. With `.not`, no time passes. */
  readonly within?: string | number
}

export interface MatcherResult {
  readonly pass: boolean
  message(): string
}

/** The matchers as tests call them, for the types of Jest and Vitest. */
export interface ClusterMatchers {
  toHaveCondition(kind: ResourceType, name: string, condition: string, options?: MatcherOptions): Promise<void>
  toHaveEvent(kind: ResourceType, name: string, reason: string, options?: MatcherOptions): Promise<void>
}

/** What Jest and Vitest pass as `this`. */
export interface MatcherState {
  readonly isNot?: boolean
}

interface Expectation {
  readonly kind: ResourceType
  readonly name: string
  readonly options: MatcherOptions
  /** `to have the condition Ready=True` */
  readonly what: string
  /** What is there: `its conditions: Ready=False (Crashed)`, and whether that is what is expected. */
  readonly look: (
    cluster: TestCluster,
    namespace: string,
  ) => Promise<{ readonly found: string; readonly fits: boolean }>
}

interface Condition {
  readonly type: string
  readonly status: string
  readonly reason?: string
}

/** `expect.extend(clusterMatchers)` */
export const clusterMatchers = {
  /** `await expect(cluster).toHaveCondition(deployment, 'web', 'Available')`; `Available=False` for another status than True. */
  toHaveCondition(
    this: MatcherState,
    received: unknown,
    kind: ResourceType,
    name: string,
    condition: string,
    options: MatcherOptions = {},
  ): Promise<MatcherResult> {
    const [type = '', status = 'True'] = condition.split('=')
    const look = async (cluster: TestCluster, namespace: string) => {
      const object = await cluster.client.of(kind).get(name, kind.namespaced ? namespace : '')
      const conditions = conditionsOf(object)
      const found =
        conditions.length === 0 ? 'it has no conditions' : `its conditions: ${conditions.map(text).join(', ')}`
      return { found, fits: conditions.some((each) => each.type === type && each.status === status) }
    }
    return matched(this, received, { kind, name, options, what: `to have the condition ${type}=${status}`, look })
  },

  /** `await expect(cluster).toHaveEvent(deployment, 'web', 'ScalingReplicaSet')` */
  toHaveEvent(
    this: MatcherState,
    received: unknown,
    kind: ResourceType,
    name: string,
    reason: string,
    options: MatcherOptions = {},
  ): Promise<MatcherResult> {
    const look = async (cluster: TestCluster, namespace: string) => {
      const fieldSelector = `involvedObject.kind=${kind.kind},involvedObject.name=${name}`
      const { items } = await cluster.client
        .of(eventKind)
        .list({ namespace: kind.namespaced ? namespace : 'default', fieldSelector })
      const reasons = [...new Set(items.map((each) => each.reason ?? ''))]
      const found = reasons.length === 0 ? 'it has no events' : `its events: ${reasons.join(', ')}`
      return { found, fits: reasons.includes(reason) }
    }
    return matched(this, received, { kind, name, options, what: `to have an event ${reason}`, look })
  },
}

async function matched(
  { isNot = false }: MatcherState,
  received: unknown,
  { kind, name, options: { namespace = 'default', within = '1m' }, what, look }: Expectation,
): Promise<MatcherResult> {
  if (!(received instanceof TestCluster))
    throw new TypeError('expect(…) must get a cluster of startCluster() for this matcher')
  let found = ''
  let failure: { readonly error: unknown } | undefined
  const probe = async (): Promise<boolean> => {
    try {
      const seen = await look(received, namespace)
      found = seen.found
      return seen.fits
    } catch (error) {
      if (!hasReason(error, 'NotFound')) failure = { error }
      found = 'it does not exist'
      return failure !== undefined
    }
  }
  // At its limit `until` throws; the message of a matcher is built below.
  const pass = await received.until(probe, isNot ? 0 : within).catch(() => false)
  if (failure !== undefined) throw failure.error
  const title = `expected ${kind.singular}/${name} ${isNot ? 'not ' : ''}${what}`
  if (pass) return { pass, message: () => `${title}\n${found}` }
  const limit = isNot ? '' : ` within ${within} of the cluster's time`
  const reasons = await received.why(kind, name, namespace).catch(() => '')
  return { pass, message: () => [`${title}${limit}`, found, ...(reasons === '' ? [] : ['', reasons])].join('\n') }
}

const conditionsOf = (object: ApiObject): readonly Condition[] =>
  (object as { readonly status?: { readonly conditions?: readonly Condition[] } }).status?.conditions ?? []

const text = ({ type, status, reason }: Condition): string =>
  `${type}=${status}${reason === undefined || reason === '' ? '' : ` (${reason})`}`
