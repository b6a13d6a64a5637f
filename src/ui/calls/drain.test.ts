// A drain: what happens to each pod, and the evictions.
import { deepEqual, equal, rejects } from 'node:assert/strict'
import { test } from 'node:test'
import { drainPlan, evictPods, type DrainedPod, type DrainProgress } from './drain.ts'

const owner = (kind: string) => ({ ownerReferences: [{ kind, controller: true }] })
const pod = (name: string, metadata = {}, more: Partial<DrainedPod> = {}): DrainedPod => ({
  metadata: { name, namespace: 'shop', uid: `uid-${name}`, ...metadata },
  ...more,
})
const names = (pods: readonly DrainedPod[]): string[] => pods.map(({ metadata }) => metadata.name)

test('pods of the node itself stay; what is lost is named', () => {
  const emptyDir = { spec: { volumes: [{ emptyDir: {} }] } }
  const plan = drainPlan([
    pod('web', owner('ReplicaSet'), emptyDir),
    pod('bare'),
    pod('ended', {}, { ...emptyDir, status: { phase: 'Succeeded' } }),
    pod('agent', owner('DaemonSet')),
    pod('ended-agent', owner('DaemonSet'), { status: { phase: 'Failed' } }),
    pod('static', { annotations: { 'kubernetes.io/config.mirror': 'x' } }),
  ])
  deepEqual(Object.fromEntries(Object.entries(plan).map(([name, pods]) => [name, names(pods)])), {
    evicted: ['web', 'bare', 'ended', 'ended-agent'],
    ofDaemonSets: ['agent'],
    mirrors: ['static'],
    unmanaged: ['bare'],
    withLocalData: ['web'],
  })
})

const rejection = (code: number, message = '') => Object.assign(new Error(message), { code })

/** Responses by request, in order; without one a request succeeds. */
function draining(responses: Readonly<Record<string, (Error | object)[]>>) {
  const sent: string[] = []
  const reports: DrainProgress[] = []
  const respond = async (request: string): Promise<unknown> => {
    sent.push(request)
    const response = responses[request]?.shift()
    if (response instanceof Error) throw response
    return response
  }
  let slept = 0
  const deps = {
    api: {
      read: (target: string) => respond(`GET ${target.split('/').at(-1)}`),
      create: async (target: string) => void (await respond(`EVICT ${target.split('/').at(-2)}`)),
      delete: () => Promise.reject(new Error('not used')),
      patch: () => Promise.reject(new Error('not used')),
    },
    sleep: async (_ms: number, signal: AbortSignal) => {
      slept++
      signal.throwIfAborted()
    },
    report: (progress: DrainProgress) => void reports.push(progress),
  }
  return { deps, sent, reports, sleeps: () => slept }
}

test('a pod is evicted as soon as its budget allows it, and until it is gone', async () => {
  const { deps, sent, reports } = draining({
    'EVICT web': [rejection(429, 'the budget allows none')],
    'GET web': [pod('web'), rejection(404)],
    'EVICT gone': [rejection(404)],
    'EVICT again': [rejection(409)],
    'GET new': [pod('new', { uid: 'other' })],
  })
  await evictPods(
    deps,
    ['web', 'gone', 'again', 'new'].map((name) => pod(name)),
    new AbortController().signal,
  )
  deepEqual(sent, [
    ...['EVICT web', 'EVICT gone', 'EVICT again', 'EVICT new'],
    ...['EVICT web', 'GET new'],
    ...['GET web'],
    ...['GET web'],
  ])
  deepEqual(reports, [
    { done: 2, total: 4, waiting: ['web: the budget allows none', 'new: ends'] },
    { done: 3, total: 4, waiting: ['web: ends'] },
    { done: 3, total: 4, waiting: ['web: ends'] },
    { done: 4, total: 4, waiting: [] },
  ])
})

test('another rejection ends it with the name of the pod', async () => {
  const { deps } = draining({ 'EVICT web': [rejection(403, 'you may not')] })
  await rejects(evictPods(deps, [pod('web')], new AbortController().signal), /^Error: web: you may not$/)
  const unreadable = draining({ 'GET web': [rejection(500, 'broken')] })
  await rejects(evictPods(unreadable.deps, [pod('web')], new AbortController().signal), /^Error: broken$/)
})

test('it ends after an hour, and when it is stopped', async () => {
  const blocked = Array.from({ length: 2_000 }, () => rejection(429, 'no'))
  const { deps, sleeps } = draining({ 'EVICT web': blocked })
  await rejects(evictPods(deps, [pod('web')], new AbortController().signal), /1 pods are not gone after an hour: web/)
  equal(sleeps(), 1_800)
  const stopped = draining({ 'EVICT web': blocked })
  await rejects(evictPods(stopped.deps, [pod('web')], AbortSignal.abort()), { name: 'AbortError' })
})
