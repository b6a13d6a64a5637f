// Objects with extreme counts in a fresh cluster: the process lives, /readyz answers, a Deployment of another namespace
// becomes ready, and the same after a restart. `COXSWAIN_LONG=1` tries every field of every kind,
// with `COXSWAIN_EXTREMES=Service,Ingress` those of some kinds only.
import { deepEqual, equal, ok } from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { test } from 'node:test'
import { rawCalls, type RawCalls } from '../flows/raw-calls.ts'
import { newFolder, startUpIn } from '../process.ts'
import { until } from '../until.ts'
import { baseObjects, type BaseObject } from './base-objects.ts'
import { EventLoopProbe } from './event-loop-probe.ts'
import { extremesOf, type Extreme } from './extreme-objects.ts'
import { knownAttacks } from './known-attacks.ts'

const namespace = 'extreme'
/** The bound for /readyz, as processor time of the server's main thread. */
const answerMsMax = 1000
/** The error, of etcd, for an object that is too large with its defaults and managed fields. */
const tooLarge = 'etcdserver: request is too large'
const isLong = process.env['COXSWAIN_LONG'] === '1'
const named = process.env['COXSWAIN_EXTREMES']?.split(',')
/** What a run of many minutes shows in the meantime. */
const trace = (text: string) => void (isLong && process.stdout.write(`${text}\n`))

if (named === undefined)
  test('objects that once stopped a cluster do not stop it now, nor after a restart', () =>
    survives(async (calls, probe) => {
      for (const { path, body } of knownAttacks(namespace)) {
        probe.during = path
        equal((await calls.call('POST', path, body)).status, 201, path)
      }
    }))

/** Fields that controllers count with, in the usual run. */
const sampled = new Map([
  ['Deployment', /^(?:metadata\.ownerReferences|spec\.(?:replicas|revisionHistoryLimit))$/],
  ['Job', /^spec\.(?:completions|backoffLimit|activeDeadlineSeconds|ttlSecondsAfterFinished)$/],
  ['ReplicaSet', /^spec\.(?:replicas|minReadySeconds)$/],
])
if (!isLong)
  test('the largest counts of workloads do not stop a cluster, nor after a restart', () =>
    survives(async (calls, probe) => {
      for (const base of baseObjects()) await createAll(base, calls, probe, sampled.get(base.kind.kind))
    }))
else
  for (const base of baseObjects().filter(({ kind }) => named?.includes(kind.kind) ?? true))
    test(`extreme counts in a ${base.kind.kind} do not stop a cluster, nor after a restart`, () =>
      survives((calls, probe) => createAll(base, calls, probe, /^/)))

async function createAll(base: BaseObject, calls: RawCalls, probe: EventLoopProbe, paths?: RegExp): Promise<void> {
  const { kind } = base.kind
  for (const [index, extreme] of extremesOf(base).entries())
    if (paths?.test(extreme.path)) {
      const count = await createLargest(extreme, `${kind.toLowerCase()}-${index}`, calls, probe)
      ok(count > 0 || isLong, `${kind} ${extreme.path} is not valid with any count`)
      trace(`${kind} ${extreme.path}: ${count}`)
    }
}

/** Creates the object with as many elements as the server accepts; 0 when it accepts none of the counts. */
async function createLargest(extreme: Extreme, name: string, calls: RawCalls, probe: EventLoopProbe): Promise<number> {
  const { group, version, plural, namespaced } = extreme.base.kind
  const prefix = group === '' ? `/api/${version}` : `/apis/${group}/${version}`
  const path = `${prefix}${namespaced ? `/namespaces/${namespace}` : ''}/${plural}`
  for (const count of extreme.counts) {
    const body = extreme.bodyWith(count) as { metadata: { name: string } }
    const unique = body.metadata.name === 'x' ? name : body.metadata.name
    probe.during = `POST ${extreme.path} ×${count}`
    const answer = await calls.call('POST', path, { ...body, metadata: { ...body.metadata, name: unique } })
    const { status } = answer
    const isTooLarge = status === 500 && answer.body.message === tooLarge
    ok(status < 500 || status === 504 || isTooLarge, `${extreme.path} ×${count}: ${status} ${answer.body.message}`)
    probe.during = `after ${extreme.path} ×${count}`
    if (status === 201) return count
  }
  return 0
}

/** Runs a fresh cluster with the objects, and runs it again on the same data. */
async function survives(create: (calls: RawCalls, probe: EventLoopProbe) => Promise<void>): Promise<void> {
  const folder = await newFolder()
  try {
    await observed(folder, 'first', create)
    await observed(folder, 'second', async () => {})
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

async function observed(
  folder: string,
  run: string,
  create: (calls: RawCalls, probe: EventLoopProbe) => Promise<void>,
): Promise<void> {
  await using up = await startUpIn(folder, '--store', 'sqlite', '--nodes', '2')
  await using calls = rawCalls(readFileSync(up.kubeconfig, 'utf8'))
  await using probe = new EventLoopProbe(up.pid, readFileSync(up.kubeconfig, 'utf8'), answerMsMax)
  probe.onLate = (late) => trace(`late: ${JSON.stringify(late)}`)
  await calls.call('POST', '/api/v1/namespaces', { metadata: { name: namespace } })
  await create(calls, probe)
  probe.during = `canary of the ${run} run`
  await canary(calls, run)
  const { late, failures, answers, longestBusyMs } = probe
  trace(`${run} run: ${answers} answers of /readyz, the slowest after ${longestBusyMs} ms`)
  ok(answers > 0)
  deepEqual({ late, failures }, { late: [], failures: [] })
}

/** A Deployment of another namespace becomes ready, with new pods in each run. */
async function canary(calls: RawCalls, run: string): Promise<void> {
  await calls.call('POST', '/api/v1/namespaces', { metadata: { name: 'canary' } })
  const path = '/apis/apps/v1/namespaces/canary/deployments'
  const labels = { run }
  const spec = {
    replicas: 2,
    selector: { matchLabels: labels },
    template: {
      metadata: { labels },
      spec: { priorityClassName: 'system-node-critical', containers: [{ name: 'c', image: 'i' }] },
    },
  }
  equal((await calls.call('POST', path, { metadata: { name: run }, spec })).status, 201)
  await until(async () => {
    const { body } = await calls.call('GET', `${path}/${run}`)
    return body.status?.readyReplicas === 2
  })
}
