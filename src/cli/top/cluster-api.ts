// The API server of a kubeconfig, for the terminal view.
import { senderPrefix } from '../../api/coxswain/v1/flow-protocol.ts'
import { StatusError } from '../../api/errors/status-error.ts'
import { connectKubeconfig } from '../../cluster/client/kubeconfig-connection.ts'
import type { ServerApi } from '../../ui/terminal/source/server-api.ts'
import { explainedLines } from '../output/explained-object.ts'
import { kindIn } from '../options/named-object.ts'
import type { ChosenCluster } from '../options/choose-cluster.ts'

export const topSender = 'coxswain top'

export interface ClusterApi extends ServerApi, AsyncDisposable {}

export async function openClusterApi(cluster: ChosenCluster, signal: AbortSignal): Promise<ClusterApi> {
  const { outbound, headers } = await connectKubeconfig(cluster.kubeconfig, signal)
  async function* send(
    method: string,
    target: string,
    accept: string,
    body: object | undefined,
    stop: AbortSignal,
    type = 'application/json',
  ) {
    const own = { accept, 'user-agent': senderPrefix + topSender, ...(await headers(stop)) }
    const response = await outbound.send(
      body === undefined
        ? { method, target, headers: own }
        : { method, target, headers: { ...own, 'content-type': type }, body: JSON.stringify(body) },
      stop,
    )
    const decoder = new TextDecoder()
    let refusal = ''
    for await (const bytes of response.body) {
      const piece = decoder.decode(bytes, { stream: true })
      if (response.status < 300) yield piece
      else refusal += piece
    }
    if (response.status >= 300) throw statusError(response.status, refusal)
  }
  const textOf = async (pieces: AsyncIterable<string>): Promise<string> => (await Array.fromAsync(pieces)).join('')
  return {
    stream: (target, accept, stop) => send('GET', target, accept, undefined, stop),
    read: async (target, accept, stop) =>
      JSON.parse(await textOf(send('GET', target, accept, undefined, stop))) as unknown,
    async delete(target, options, stop) {
      await textOf(send('DELETE', target, 'application/json', options, stop))
    },
    async patch(target, type, patch, stop) {
      await textOf(send('PATCH', target, 'application/json', patch, stop, type))
    },
    async why({ resource, namespace, name }, stop) {
      const { plural, group } = resource
      const kind = await kindIn(cluster, group === '' ? plural : `${plural}.${group}`, stop)
      return explainedLines(cluster, { kind, namespace, name }, stop)
    },
    [Symbol.asyncDispose]: () => outbound.close(),
  }
}

/** The Status of a response, or its text. */
function statusError(status: number, text: string): StatusError {
  try {
    return StatusError.fromStatus(JSON.parse(text) as object, status)
  } catch {
    return new StatusError(status, 'InternalError', `the server responded with ${status}: ${text.slice(0, 200)}`)
  }
}
