// electionStep: the next step of the coordinated election of a Lease's holder, from the Lease and its candidates. All state
// of an election is in these objects: a candidate that was asked (pingTime) and has not responded since (renewTime) is
// waited for until `answerMsMax` has passed; those that responded within that time are voted on.
import { rfc3339Micro } from '../../base/time/clock.ts'
import { oldestEmulationVersion } from '../../api/coordination/lease-strategy.ts'
import type { Lease, LeaseSpec } from '../../api/coordination/v1/lease.ts'
import type { LeaseCandidate } from '../../api/coordination/v1beta1/lease-candidate.ts'
import { compareSemver, parseSemver, type Semver } from '../../cel/library/kubernetes/semver-functions.ts'

/** How long candidates have for their response. */
export const answerMsMax = 5_000
/** A candidate that has not responded for so long no longer stands. */
export const candidacyMsMax = 30 * 60_000
/** As upstream, an elected holder has this time until it renews the lease itself. */
const leaseSeconds = 5

export type ElectionStep =
  /** No candidate stands. The next one starts an election. */
  | { readonly kind: 'none' }
  /** The holder is the best one, or candidates have not responded yet. */
  | { readonly kind: 'wait' }
  | { readonly kind: 'ask'; readonly candidates: readonly LeaseCandidate[] }
  /** The strategy is not Kubernetes' own: another controller sets the holder. */
  | { readonly kind: 'write'; readonly spec: LeaseSpec }
  | { readonly kind: 'failed'; readonly why: string }

export function electionStep(lease: Lease | undefined, all: readonly LeaseCandidate[], nowMs: number): ElectionStep {
  const candidates = all.filter(({ spec }) => msOf(spec.renewTime) + candidacyMsMax >= nowMs)
  if (candidates.length === 0) return { kind: 'none' }
  const need = electionNeed(lease, candidates, nowMs)
  if (need !== 'needed') return need
  const hasResponded = ({ spec }: LeaseCandidate) => msOf(spec.renewTime) + answerMsMax > nowMs
  const responded = candidates.filter(hasResponded)
  const asked = candidates.filter((each) => !hasResponded(each) && mayBeAsked(each.spec, nowMs))
  if (asked.length > 0) return { kind: 'ask', candidates: asked }
  if (candidates.some(({ spec }) => isAwaited(spec, nowMs))) return { kind: 'wait' }
  if (responded.length === 0) return { kind: 'failed', why: 'no available candidates' }
  const strategy = bestStrategy(responded)
  if (strategy === undefined) return invalidStrategy
  const holder = strategy === oldestEmulationVersion ? oldestOf(responded)?.metadata.name : undefined
  if (strategy === oldestEmulationVersion && holder === undefined)
    return { kind: 'failed', why: 'no candidate has valid versions' }
  return writeUnlessEqual(lease?.spec, electedSpec(lease?.spec, strategy, holder, nowMs))
}

const invalidStrategy: ElectionStep = {
  kind: 'failed',
  why: 'candidates of the same binary version have different strategies',
}

const msOf = (time: string | undefined): number => (time === undefined ? 0 : Date.parse(time))

type Times = Pick<LeaseCandidate['spec'], 'pingTime' | 'renewTime'>

/** It was asked, and has not responded. */
export const isAsked = ({ pingTime, renewTime }: Times): boolean => msOf(pingTime) > msOf(renewTime)

/** It has time left for its response. */
const isAwaited = (times: Times, nowMs: number): boolean => isAsked(times) && msOf(times.pingTime) + answerMsMax > nowMs

/** A candidate that did not respond to the last question is not asked again. */
const mayBeAsked = (times: Times, nowMs: number): boolean =>
  times.pingTime === undefined || (!isAsked(times) && msOf(times.pingTime) + answerMsMax < nowMs)

function electionNeed(
  lease: Lease | undefined,
  candidates: readonly LeaseCandidate[],
  nowMs: number,
): ElectionStep | 'needed' {
  if (lease === undefined || hasExpired(lease.spec, nowMs) || !lease.spec.holderIdentity) return 'needed'
  // Responses also show that candidates still exist, so they are asked at half of that time.
  if (candidates.some(({ spec }) => msOf(spec.renewTime) + candidacyMsMax / 2 < nowMs)) return 'needed'
  const strategy = bestStrategy(candidates)
  if (strategy === undefined) return invalidStrategy
  const best = strategy === oldestEmulationVersion ? oldestOf(candidates) : undefined
  return best === undefined || best.metadata.name === lease.spec.holderIdentity ? { kind: 'wait' } : 'needed'
}

const hasExpired = ({ renewTime, leaseDurationSeconds }: LeaseSpec, nowMs: number): boolean =>
  renewTime === undefined ||
  leaseDurationSeconds === undefined ||
  Date.parse(renewTime) + leaseDurationSeconds * 1000 < nowMs

/** A holder that is still leading is asked to stop, with the preferred holder; it is replaced once its lease is free. */
function electedSpec(
  old: LeaseSpec | undefined,
  strategy: string,
  holder: string | undefined,
  nowMs: number,
): LeaseSpec {
  const granted = { leaseDurationSeconds: leaseSeconds, renewTime: rfc3339Micro(nowMs) }
  const elected = holder === undefined ? {} : { holderIdentity: holder }
  if (old === undefined) return { strategy, ...elected, ...granted }
  const { holderIdentity, preferredHolder: _, acquireTime: __, ...rest } = old
  if (holder === undefined) return { ...old, strategy }
  if (!holderIdentity || hasExpired(old, nowMs)) return { ...rest, strategy, ...elected, ...granted }
  return { ...old, strategy, ...(holder === holderIdentity ? {} : { preferredHolder: holder }) }
}

function writeUnlessEqual(old: LeaseSpec | undefined, spec: LeaseSpec): ElectionStep {
  const isEqual =
    old !== undefined &&
    (['holderIdentity', 'preferredHolder', 'strategy', 'renewTime'] as const).every((name) => old[name] === spec[name])
  return isEqual ? { kind: 'wait' } : { kind: 'write', spec }
}

/** That of the candidates with the highest binary version; undefined if these have different ones. */
function bestStrategy(candidates: readonly LeaseCandidate[]): string | undefined {
  const binaryOf = ({ spec }: LeaseCandidate) => parseSemver(spec.binaryVersion, true) ?? zero
  const highest = candidates.map(binaryOf).reduce((a, b) => (compareSemver(a, b) < 0 ? b : a), zero)
  const newest = candidates.filter((each) => compareSemver(binaryOf(each), highest) === 0)
  const [strategy, ...others] = new Set(newest.map(({ spec }) => spec.strategy))
  return others.length === 0 ? strategy : undefined
}

const zero = parseSemver('0.0.0') as Semver

interface Versions {
  readonly candidate: LeaseCandidate
  readonly emulation: Semver
  readonly binary: Semver
}

/** By emulation version, then by binary version; of equal ones the oldest object. */
function oldestOf(candidates: readonly LeaseCandidate[]): LeaseCandidate | undefined {
  const [oldest] = candidates.flatMap(versionsOf).toSorted(compareVersions)
  return oldest?.candidate
}

function versionsOf(candidate: LeaseCandidate): readonly Versions[] {
  const { emulationVersion = '', binaryVersion } = candidate.spec
  const emulation = parseSemver(emulationVersion, true)
  const binary = parseSemver(binaryVersion, true)
  return emulation === undefined || binary === undefined ? [] : [{ candidate, emulation, binary }]
}

const compareVersions = (a: Versions, b: Versions): number =>
  compareSemver(a.emulation, b.emulation) || compareSemver(a.binary, b.binary) || compareAge(a.candidate, b.candidate)

function compareAge({ metadata: a }: LeaseCandidate, { metadata: b }: LeaseCandidate): number {
  const createdAfter = Date.parse(a.creationTimestamp) - Date.parse(b.creationTimestamp)
  return createdAfter || (a.name < b.name ? -1 : 1)
}

/** When the result of the next step may differ although no object has changed: when the lease or a response is due. */
export function nextStepMs(lease: Lease | undefined, candidates: readonly LeaseCandidate[], nowMs: number): number {
  const { renewTime, leaseDurationSeconds = 0 } = lease?.spec ?? {}
  const dueMs = [
    msOf(renewTime) + leaseDurationSeconds * 1000,
    ...candidates.map(({ spec }) => msOf(spec.pingTime) + answerMsMax),
  ].map((ms) => ms + 1 - nowMs)
  return Math.min(answerMsMax, ...dueMs.filter((ms) => ms > 0))
}
