// What a cluster that runs elsewhere answers on a path of its own.
import { nodePlatform } from '../platform/node/platform.ts'
import { parseKubeconfig } from '../pki/kubeconfig.ts'

/** The parsed answer; undefined when there is nothing under the path. */
export async function fetchOwnPath(kubeconfig: string, target: string, signal: AbortSignal): Promise<unknown> {
  const { server, authority, identity } = parseKubeconfig(kubeconfig)
  const outbound = nodePlatform.outbound.connect({
    origin: server,
    tls: { authority, certificate: identity.certificate, key: identity.key },
  })
  try {
    const answer = await outbound.send({ method: 'GET', target, headers: { accept: 'application/json' } }, signal)
    const decoder = new TextDecoder()
    let text = ''
    for await (const piece of answer.body) text += decoder.decode(piece, { stream: true })
    if (answer.status === 404) return undefined
    if (answer.status !== 200) throw new Error(`the server answered ${answer.status}: ${text.slice(0, 200)}`)
    return JSON.parse(text)
  } finally {
    await outbound.close()
  }
}
