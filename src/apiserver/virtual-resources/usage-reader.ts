// UsageReader: the resource usage of nodes and pods, read from the kubelets and cached for a few seconds. A node that
// does not respond in time is left out.
import { lookup } from '../../base/collections/lookup.ts'
import type { Clock } from '../../base/time/clock.ts'
import { errorText, type Log } from '../../base/observability/log.ts'
import { isJsonObject } from '../../schema/json/json-value.ts'
import type { WireResponse } from '../../platform/http/listener.ts'
import type { KubeletConnection } from '../kubelet-client/kubelet-connection.ts'

/** Usage of processors in billionths of a core, of memory in bytes. */
export interface Usage {
  readonly cpuNanoCores: number
  readonly memoryBytes: number
  readonly time: string
}

export interface NodeUsage {
  readonly node: Usage
  /** By pod uid, then by container name. */
  readonly pods: ReadonlyMap<string, ReadonlyMap<string, Usage>>
}

export interface UsageReaderDeps {
  readonly kubelets: KubeletConnection
  readonly clock: Clock
  readonly log: Log
}

const cachedMs = 5_000
const responseMsMax = 5_000
const responseBytesMax = 16 << 20
/** Nodes that are read concurrently. */
const concurrentMax = 32
const nodesMax = 10_000

export class UsageReader {
  readonly #deps: UsageReaderDeps
  readonly #known = new Map<string, { readonly untilMs: number; readonly usage: Promise<NodeUsage | undefined> }>()

  constructor(deps: UsageReaderDeps) {
    this.#deps = deps
  }

  /** By node; nodes that do not respond are missing. */
  async read(nodes: readonly string[], signal: AbortSignal): Promise<ReadonlyMap<string, NodeUsage>> {
    const found = new Map<string, NodeUsage>()
    for (let from = 0; from < nodes.length; from += concurrentMax) {
      const some = nodes.slice(from, from + concurrentMax)
      const usages = await Promise.all(some.map((node) => this.#ask(node, signal)))
      for (const [index, usage] of usages.entries()) if (usage !== undefined) found.set(some[index] ?? '', usage)
    }
    return found
  }

  #ask(node: string, signal: AbortSignal): Promise<NodeUsage | undefined> {
    const nowMs = this.#deps.clock.monotonicMs()
    const known = this.#known.get(node)
    if (known !== undefined && known.untilMs > nowMs) return known.usage
    for (const [name, { untilMs }] of this.#known) {
      if (untilMs > nowMs && this.#known.size < nodesMax) break
      this.#known.delete(name)
    }
    const usage = this.#read(node, signal)
    this.#known.delete(node)
    this.#known.set(node, { untilMs: nowMs + cachedMs, usage })
    return usage
  }

  async #read(node: string, signal: AbortSignal): Promise<NodeUsage | undefined> {
    const { kubelets, clock, log } = this.#deps
    const late = new AbortController()
    const timer = clock.after(responseMsMax, () => late.abort(new Error('the kubelet did not answer in time')))
    try {
      const path = '/stats/summary?only_cpu_and_memory=true'
      const call = { node, method: 'GET', path, headers: {}, body: undefined }
      const response = await kubelets.call(call, AbortSignal.any([signal, late.signal]))
      if (response.status !== 200) throw new Error(`the kubelet answered with ${response.status}`)
      return usageIn(JSON.parse(await bodyText(response)))
    } catch (error) {
      this.#known.delete(node)
      log.debug('what a node uses is not known', { node, error: errorText(error) })
      return undefined
    } finally {
      timer.cancel()
    }
  }
}

async function bodyText({ body }: WireResponse): Promise<string> {
  if (typeof body === 'string') return body
  if (body instanceof Uint8Array) return new TextDecoder().decode(body)
  if (!(Symbol.asyncIterator in body)) throw new Error('the response is not text')
  const decoder = new TextDecoder()
  let text = ''
  for await (const piece of body) {
    text += typeof piece === 'string' ? piece : decoder.decode(piece, { stream: true })
    if (text.length > responseBytesMax) throw new Error(`the response is longer than ${responseBytesMax} bytes`)
  }
  return text
}

/** The response of another program: unexpected values are ignored. */
function usageIn(summary: unknown): NodeUsage {
  const pods = listIn(summary, 'pods').map((pod) => {
    const containers = listIn(pod, 'containers').map((one) => [textIn(one, 'name'), usageOf(one)] as const)
    return [textIn(at(pod, 'podRef'), 'uid'), new Map(containers)] as const
  })
  return { node: usageOf(at(summary, 'node')), pods: new Map(pods) }
}

const usageOf = (part: unknown): Usage => ({
  cpuNanoCores: numberIn(at(part, 'cpu'), 'usageNanoCores'),
  memoryBytes: numberIn(at(part, 'memory'), 'workingSetBytes'),
  time: textIn(at(part, 'cpu'), 'time'),
})

const at = (value: unknown, key: string): unknown => (isJsonObject(value) ? lookup(value, key) : undefined)
const listIn = (value: unknown, key: string): readonly unknown[] => {
  const found = at(value, key)
  return Array.isArray(found) ? found : []
}
const textIn = (value: unknown, key: string): string => {
  const found = at(value, key)
  return typeof found === 'string' ? found : ''
}
const numberIn = (value: unknown, key: string): number => {
  const found = at(value, key)
  return typeof found === 'number' && Number.isFinite(found) && found >= 0 ? found : 0
}
