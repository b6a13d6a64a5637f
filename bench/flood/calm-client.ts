// The well-behaved client of the flood: creates and reads objects and renews a lease, one request at a time, as a
// controller does.
import { realClock } from '../../src/base/time/clock.ts'
import type { Access } from '../../test/access.ts'
import { Client, type Answer } from './client.ts'

export interface Seen {
  readonly latencies: readonly number[]
  /** Names of the objects whose creation was acknowledged. */
  readonly acknowledged: readonly string[]
  readonly failures: readonly string[]
  readonly renewals: number
  readonly longestRenewalMs: number
}

interface Lease {
  readonly metadata: { readonly name: string; readonly resourceVersion?: string }
  readonly spec: { readonly holderIdentity: string; readonly renewTime?: string }
}

const pauseMs = 20
const { signal } = new AbortController()
const configMaps = '/api/v1/namespaces/good/configmaps'
const leases = '/apis/coordination.k8s.io/v1/namespaces/good/leases'

/** The names of the objects begin with the prefix. */
export async function behave(access: Access, token: string, seconds: number, prefix: string): Promise<Seen> {
  const client = new Client(access, token)
  const latencies: number[] = []
  const acknowledged: string[] = []
  const failures: string[] = []
  const send = async (method: string, path: string, body?: object): Promise<Answer | undefined> => {
    const startMs = performance.now()
    const answer = await client.send(method, path, body).catch((error: Error) => error)
    latencies.push(performance.now() - startMs)
    if (answer instanceof Error) failures.push(`${method}: ${answer.message}`)
    else if (answer.status >= 300) failures.push(`${method}: ${answer.status}`)
    return answer instanceof Error || answer.status >= 300 ? undefined : answer
  }
  const named = { metadata: { name: prefix }, spec: { holderIdentity: 'calm' } }
  let lease = JSON.parse(await client.make(leases, named)) as Lease
  const startMs = performance.now()
  let renewals = 0
  let longestRenewalMs = 0
  let renewedMs = startMs
  for (let round = 0; performance.now() < startMs + seconds * 1000; round++) {
    const name = `${prefix}-${round}`
    const made = await send('POST', configMaps, { metadata: { name }, data: { round: String(round) } })
    if (made !== undefined) acknowledged.push(name)
    await send('GET', `${configMaps}/${name}`)
    const renewTime = new Date().toISOString().replace('Z', '000Z')
    const renewed = await send('PUT', `${leases}/${prefix}`, { ...lease, spec: { ...lease.spec, renewTime } })
    // A renewal whose response was lost may have been stored.
    const current = renewed ?? (await client.send('GET', `${leases}/${prefix}`).catch(() => undefined))
    if (current?.status === 200) lease = JSON.parse(current.text) as Lease
    if (renewed !== undefined) {
      longestRenewalMs = Math.max(longestRenewalMs, performance.now() - renewedMs)
      renewedMs = performance.now()
      renewals++
    }
    await realClock.sleep(pauseMs, signal)
  }
  client.close()
  longestRenewalMs = Math.max(longestRenewalMs, performance.now() - renewedMs)
  return { latencies, acknowledged, failures, renewals, longestRenewalMs }
}

export async function writesLost(access: Access, names: readonly string[]): Promise<number> {
  const items = await listed<{ metadata: { name: string } }>(access, configMaps)
  const there = new Set(items.map(({ metadata }) => metadata.name))
  return names.filter((name) => !there.has(name)).length
}

interface Node {
  readonly metadata: { readonly creationTimestamp: string }
  readonly status: {
    readonly conditions: readonly {
      readonly type: string
      readonly status: string
      readonly lastTransitionTime: string
    }[]
  }
}

/** A node that was not ready meanwhile became ready again later than shortly after its creation. */
const startMsMax = 60_000

/** Nodes whose kubelets have renewed their leases in time since their start. */
export async function readyNodes(access: Access): Promise<{ readonly ready: number; readonly nodes: number }> {
  const nodes = await listed<Node>(access, '/api/v1/nodes')
  const ready = nodes.filter(({ metadata, status }) => {
    const condition = status.conditions.find(({ type }) => type === 'Ready')
    const sinceMs = Date.parse(condition?.lastTransitionTime ?? '') - Date.parse(metadata.creationTimestamp)
    return condition?.status === 'True' && sinceMs < startMsMax
  })
  return { ready: ready.length, nodes: nodes.length }
}

/** A server may still be busy with the flood, so the list is requested again if it fails. */
const listTries = 5

async function listed<T>(access: Access, path: string): Promise<readonly T[]> {
  const admin = new Client(access)
  try {
    for (let tries = 1; ; tries++) {
      const answer = await admin.send('GET', path).catch((error: Error) => error)
      if (!(answer instanceof Error) && answer.status === 200)
        return (JSON.parse(answer.text) as { items: readonly T[] }).items
      if (tries === listTries)
        throw new Error(`GET ${path}: ${answer instanceof Error ? answer.message : answer.status}`)
    }
  } finally {
    admin.close()
  }
}
