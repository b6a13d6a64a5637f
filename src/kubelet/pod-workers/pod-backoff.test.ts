import { deepEqual, equal } from 'node:assert/strict'
import { test } from 'node:test'
import { PodSyncStates, sandboxFailure, type PodSyncState } from '../pod/pod-sync-state.ts'
import type { PodAction } from '../pod/pod-actions.ts'
import { aPod, nowMs } from '../pod/pod-lifecycle.harness.ts'
import { isBackedOff, nextSyncMs, updateWaitingReasons } from './pod-backoff.ts'

const stateWith = (change: (state: PodSyncState) => void = () => {}): PodSyncState => {
  const state = new PodSyncStates().of('u')
  change(state)
  return state
}
const start = (name: string): PodAction => ({
  kind: 'start-container',
  container: { name, image: 'i' } as Extract<PodAction, { kind: 'start-container' }>['container'],
  attempt: 0,
  finishedMs: undefined,
})
const runSandbox: PodAction = { kind: 'run-sandbox' }
const wait: PodAction = { kind: 'wait', ms: 4_000, container: 'c', backoffMs: 10_000 }
const failed = (name: string, untilMs: number) => stateWith(({ failures }) => failures.set(name, { count: 1, untilMs }))
const started = { startTime: new Date(nowMs - 10_000).toISOString() }
const later = { reason: 'ImagePullBackOff', message: 'm', event: 'e' }

const syncs: [why: string, pod: ReturnType<typeof aPod>, actions: PodAction[], PodSyncState, ms: number | undefined][] =
  [
    ['nothing to do', aPod(), [], stateWith(), undefined],
    ['an action that is due', aPod(), [start('c')], stateWith(), undefined],
    ['a crash backoff', aPod(), [wait], stateWith(), 4_000],
    ['a failed start', aPod(), [start('c')], failed('c', nowMs + 3_000), 3_000],
    ['a failure of another container', aPod(), [start('c')], failed('d', nowMs + 3_000), undefined],
    ['a failed sandbox', aPod(), [runSandbox], failed(sandboxFailure, nowMs + 500), 500],
    ['the earlier of two', aPod(), [wait, start('d')], failed('d', nowMs + 3_000), 3_000],
    ['a deadline', aPod({ activeDeadlineSeconds: 15 }, started), [], stateWith(), 5_000],
    ['a deadline that is exceeded', aPod({ activeDeadlineSeconds: 5 }, started), [], stateWith(), undefined],
    [
      'a deadline of a pod that is terminated already',
      aPod({ activeDeadlineSeconds: 15 }, started),
      [],
      stateWith((state) => (state.termination = { reason: 'r', message: 'm' })),
      undefined,
    ],
    [
      'a waiting reason that changes before the retry',
      aPod(),
      [start('c')],
      stateWith(({ failures }) =>
        failures.set('c', { count: 1, untilMs: nowMs + 10_000, later: { ...later, fromMs: nowMs + 1_000 } }),
      ),
      1_000,
    ],
  ]
for (const [why, pod, actions, state, ms] of syncs)
  test(`the next sync: ${why}`, () => equal(nextSyncMs(pod, actions, state, nowMs), ms))

test('an action is backed off until its failure is retried', () => {
  const state = failed('c', nowMs + 1_000)
  deepEqual(
    [
      isBackedOff(start('c'), state, nowMs),
      isBackedOff(start('c'), state, nowMs + 1_000),
      isBackedOff(wait, state, nowMs),
    ],
    [true, false, true],
  )
})

test('waiting reasons change after a while, each with its events, and only once', () => {
  const state = stateWith(({ failures }) =>
    failures.set('d', { count: 1, untilMs: nowMs + 10_000, later: { ...later, fromMs: nowMs + 1_000 } }),
  )
  const events: string[] = []
  const update = (atMs: number) =>
    updateWaitingReasons(aPod(), [wait, start('d')], state, atMs, ({ reason, container, message }) =>
      events.push(`${reason} ${container ?? ''}: ${message}`),
    )
  update(nowMs)
  deepEqual(events, ['BackOff c: Back-off restarting failed container c in pod p_default(u)'])
  equal(state.waiting.get('c')?.message, 'back-off 10s restarting failed container=c pod=p_default(u)')
  update(nowMs + 1_000)
  update(nowMs + 2_000)
  deepEqual(events.slice(1), ['BackOff d: e', 'Failed d: Error: ImagePullBackOff'])
  deepEqual(state.waiting.get('d'), { reason: 'ImagePullBackOff', message: 'm' })
})
