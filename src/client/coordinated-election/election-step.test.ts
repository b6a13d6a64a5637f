// Tables for the steps of coordinated leader election.
import { deepEqual, equal } from 'node:assert/strict'
import { test } from 'node:test'
import { rfc3339, rfc3339Micro } from '../../base/time/clock.ts'
import type { Lease, LeaseSpec } from '../../api/coordination/v1/lease.ts'
import type { LeaseCandidate } from '../../api/coordination/v1beta1/lease-candidate.ts'
import { electionStep, nextStepMs, type ElectionStep } from './election-step.ts'

const nowMs = Date.UTC(2030, 0, 1)
const at = (secondsAgo: number): string => rfc3339Micro(nowMs - secondsAgo * 1000)

interface CandidateFields {
  readonly version?: string
  readonly binary?: string
  readonly strategy?: string
  readonly asked?: number
  readonly renewed?: number
  readonly created?: number
}

const candidate = (
  name: string,
  {
    version = '1.36.0',
    binary = '1.40.0',
    strategy = 'OldestEmulationVersion',
    asked,
    renewed = 1,
    created = 60,
  }: CandidateFields = {},
): LeaseCandidate =>
  ({
    metadata: { name, namespace: 'kube-system', creationTimestamp: rfc3339(nowMs - created * 1000) },
    spec: {
      leaseName: 'tested',
      binaryVersion: binary,
      emulationVersion: version,
      strategy,
      renewTime: at(renewed),
      ...(asked === undefined ? {} : { pingTime: at(asked) }),
    },
  }) as LeaseCandidate

const held = (spec: LeaseSpec): Lease => ({ metadata: { name: 'tested', namespace: 'kube-system' }, spec }) as Lease

const by = (holderIdentity: string, renewed = 1, more: LeaseSpec = {}): Lease =>
  held({ holderIdentity, leaseDurationSeconds: 15, renewTime: at(renewed), acquireTime: at(100), ...more })

/** In short: who is asked, or who holds and is preferred in what is written. */
function shown(step: ElectionStep): string {
  if (step.kind === 'ask') return `ask ${step.candidates.map(({ metadata }) => metadata.name).join(' ')}`
  if (step.kind === 'failed') return step.why
  if (step.kind !== 'write') return step.kind
  const { holderIdentity = '', preferredHolder = '', strategy = '' } = step.spec
  return `${strategy === 'OldestEmulationVersion' ? '' : `${strategy} `}holder=${holderIdentity} preferred=${preferredHolder}`
}

const cases: readonly (readonly [what: string, Lease | undefined, readonly LeaseCandidate[], string])[] = [
  ['no candidate', undefined, [], 'none'],
  ['only candidates that have ended', undefined, [candidate('a', { renewed: 1801 })], 'none'],
  ['a first candidate', undefined, [candidate('a')], 'holder=a preferred='],
  [
    'the lowest emulation version',
    undefined,
    [candidate('a', { version: '1.37.0' }), candidate('b'), candidate('c', { version: '1.36.1' })],
    'holder=b preferred=',
  ],
  [
    'of equal emulations the lowest binary version',
    undefined,
    [candidate('a', { binary: '1.41.0' }), candidate('b', { binary: '1.40.1' })],
    'holder=b preferred=',
  ],
  ['of equal versions the oldest', undefined, [candidate('a'), candidate('b', { created: 61 })], 'holder=b preferred='],
  ['of equal ages the first name', undefined, [candidate('b'), candidate('a')], 'holder=a preferred='],
  [
    'a pre-release is lower than its release',
    undefined,
    [candidate('a'), candidate('b', { version: '1.36.0-rc.1' })],
    'holder=b preferred=',
  ],
  ['no valid version', undefined, [candidate('a', { version: 'x' })], 'no candidate has valid versions'],
  ['silent candidates are asked', undefined, [candidate('a', { renewed: 6 }), candidate('b')], 'ask a'],
  [
    'one that was just asked is waited for',
    undefined,
    [candidate('a', { renewed: 6, asked: 1 }), candidate('b')],
    'wait',
  ],
  [
    'one that did not respond is left out',
    undefined,
    [candidate('a', { renewed: 20, asked: 6 }), candidate('b', { version: '1.37.0' })],
    'holder=b preferred=',
  ],
  ['none responded', undefined, [candidate('a', { renewed: 20, asked: 6 })], 'no available candidates'],
  ['one that responded earlier is asked again', undefined, [candidate('a', { renewed: 20, asked: 21 })], 'ask a'],
  ['a response at the time of the question counts', undefined, [candidate('a', { renewed: 20, asked: 20 })], 'ask a'],
  ['the best one leads', by('a'), [candidate('a'), candidate('b', { version: '1.37.0' })], 'wait'],
  ['a better one joins', by('a'), [candidate('a', { version: '1.37.0' }), candidate('b')], 'holder=a preferred=b'],
  [
    'a better one is preferred already',
    by('a', 1, { preferredHolder: 'b', strategy: 'OldestEmulationVersion' }),
    [candidate('a', { version: '1.37.0' }), candidate('b')],
    'wait',
  ],
  [
    'the leader has yielded',
    by('', 1, { preferredHolder: 'b', strategy: 'OldestEmulationVersion' }),
    [candidate('a', { version: '1.37.0' }), candidate('b')],
    'holder=b preferred=',
  ],
  ['the lease has expired', by('a', 16), [candidate('b')], 'holder=b preferred='],
  ['the same holder after its lease has expired', by('a', 16), [candidate('a')], 'holder=a preferred='],
  ['a lease without times', held({ holderIdentity: 'x' }), [candidate('b')], 'holder=b preferred='],
  ['a candidate is asked after half of its time', by('a'), [candidate('a', { renewed: 901 })], 'ask a'],
  [
    'another strategy elects no holder',
    undefined,
    [candidate('a', { strategy: 'example.com/mine' })],
    'example.com/mine holder= preferred=',
  ],
  ['another strategy with a holder', by('x'), [candidate('a', { strategy: 'example.com/mine' })], 'wait'],
  [
    'the strategy of the newest binary version',
    undefined,
    [candidate('a', { strategy: 'example.com/mine' }), candidate('b', { binary: '1.41.0' })],
    'holder=a preferred=',
  ],
  [
    'strategies that differ',
    undefined,
    [candidate('a', { strategy: 'example.com/mine' }), candidate('b')],
    'candidates of the same binary version have different strategies',
  ],
  [
    'strategies that differ, with a holder',
    by('b'),
    [candidate('a', { strategy: 'example.com/mine' }), candidate('b')],
    'candidates of the same binary version have different strategies',
  ],
]

for (const [what, lease, candidates, expected] of cases)
  test(`election: ${what}`, () => equal(shown(electionStep(lease, candidates, nowMs)), expected))

test('an elected holder has five seconds to renew, and keeps the count of transitions', () => {
  const step = electionStep(by('', 1, { leaseTransitions: 3, preferredHolder: 'x' }), [candidate('a')], nowMs)
  deepEqual(step, {
    kind: 'write',
    spec: {
      holderIdentity: 'a',
      leaseDurationSeconds: 5,
      renewTime: at(0),
      leaseTransitions: 3,
      strategy: 'OldestEmulationVersion',
    },
  })
})

test('the next step is due when a lease or a response is, and after five seconds at the latest', () => {
  equal(nextStepMs(undefined, [], nowMs), 5_000)
  equal(nextStepMs(by('a', 12), [], nowMs), 3_001)
  equal(nextStepMs(by('a', 16), [candidate('a', { asked: 4 })], nowMs), 1_001)
  equal(nextStepMs(by('a', 1), [candidate('a', { asked: 60 })], nowMs), 5_000)
})
