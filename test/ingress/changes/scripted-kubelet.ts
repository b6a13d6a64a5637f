// Runs the pods of one node as processes: starts those that are bound to it, reports them ready, and stops those that are
// deleted, in the order of a kubelet: the rules of network policies come first, and the object is removed last.
import { node } from '../../../src/api/core/v1/node/node.ts'
import { pod, type Pod } from '../../../src/api/core/v1/pod/pod.ts'
import { keyOf, namespaceOf, type ObjectKey } from '../../../src/api/meta/object.ts'
import type { TaskGroup } from '../../../src/base/async/task-group.ts'
import { realClock } from '../../../src/base/time/clock.ts'
import type { Client } from '../../../src/client/client.ts'
import type { Informers } from '../../../src/client/informer/informers.ts'
import type { PolicyAgent } from '../../../src/network-policy/policy-agent.ts'
import type { Machine, Node } from './machines.ts'

export const nodeName = 'node-a'
const heartbeatMs = 5_000

export interface ScriptedKubeletDeps {
  readonly client: Client
  readonly informers: Informers
  readonly machine: Node
  readonly policies: PolicyAgent
  readonly tasks: TaskGroup
}

interface RunningPod {
  readonly address: string
  readonly machine: Machine
}

export class ScriptedKubelet implements AsyncDisposable {
  readonly #deps: ScriptedKubeletDeps
  readonly #pods = new Map<ObjectKey, Promise<RunningPod>>()
  readonly #stopping = new Set<ObjectKey>()
  #lastAddress = 1

  constructor(deps: ScriptedKubeletDeps) {
    this.#deps = deps
    deps.tasks.start('heartbeat', (signal) => this.#registerNode(signal))
    deps.informers.of(pod).onChange(({ now }) => {
      if (now !== undefined && now.spec.nodeName === nodeName) this.#observe(now)
    })
  }

  /** How many pods were started. */
  get started(): number {
    return this.#pods.size
  }

  /** Pods of a node that does not exist, or does not report its status, would be removed or not ready. */
  async #registerNode(signal: AbortSignal): Promise<void> {
    const nodes = this.#deps.client.of(node)
    await nodes.create({ metadata: { name: nodeName } })
    while (!signal.aborted) {
      const lastHeartbeatTime = new Date(realClock.nowMs()).toISOString()
      const ready = { type: 'Ready', status: 'True', reason: 'KubeletReady', lastHeartbeatTime }
      await nodes.patch(nodeName, { status: { conditions: [ready] } }, 'strategic', undefined, 'status')
      await realClock.sleep(heartbeatMs, signal)
    }
  }

  #observe(bound: Pod): void {
    const { tasks } = this.#deps
    const key = keyOf(bound)
    if (!this.#pods.has(key)) {
      const starting = this.#start(bound)
      this.#pods.set(key, starting)
      tasks.start(`start ${key}`, async () => void (await starting))
    }
    if (bound.metadata.deletionTimestamp === undefined || this.#stopping.has(key)) return
    this.#stopping.add(key)
    tasks.start(`stop ${key}`, () => this.#stop(bound))
  }

  async #start(bound: Pod): Promise<RunningPod> {
    const { client, machine: host, policies, tasks } = this.#deps
    const address = `10.244.0.${++this.#lastAddress}`
    await policies.protect(bound, [address], tasks.signal)
    const machine = await host.startPod(address)
    const status = {
      phase: 'Running',
      podIP: address,
      podIPs: [{ ip: address }],
      conditions: [
        { type: 'Ready', status: 'True' },
        { type: 'ContainersReady', status: 'True' },
      ],
    }
    const { name } = bound.metadata
    await client.of(pod).patch(name, namespaceOf(bound), { status }, 'merge', undefined, 'status')
    return { address, machine }
  }

  async #stop(deleted: Pod): Promise<void> {
    const { name, uid } = deleted.metadata
    const running = await this.#pods.get(keyOf(deleted))
    if (running === undefined) return
    const { address, machine } = running
    machine.kill('SIGTERM')
    await machine.line()
    await this.#deps.machine.releaseAddress(address)
    await this.#deps.client.of(pod).delete(name, namespaceOf(deleted), { gracePeriodSeconds: 0, uid })
    await machine[Symbol.asyncDispose]()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const pods = await Promise.allSettled(this.#pods.values())
    await Promise.all(
      pods.flatMap((each) => (each.status === 'fulfilled' ? each.value.machine[Symbol.asyncDispose]() : [])),
    )
  }
}
