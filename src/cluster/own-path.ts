// What a cluster that runs elsewhere answers on a path of its own.
import { nodePlatform } from '../platform/node/platform.ts'
import { parseKubeconfig } from '../pki/kubeconfig.ts'

/** The parsed answer; undefined when there is nothing under the path. */
export async function fetchOwnPath(kubeconfig: string, target: string, signal: AbortSignal): Promise<unknown> {
  let text = ''
  for await (const piece of streamOwnPath(kubeconfig, target, signal)) text += piece
  return text === '' ? undefined : JSON.parse(text)
}

/** The text of an answer as it comes; nothing when there is nothing under the path. */
export async function* streamOwnPath(kubeconfig: string, target: string, signal: AbortSignal): AsyncGenerator<string> {
  const { server, authority, identity } = parseKubeconfig(kubeconfig)
  const outbound = nodePlatform.outbound.connect({
    origin: server,
    tls: { authority, certificate: identity.certificate, key: identity.key },
  })
  try {
    const answer = await outbound.send({ method: 'GET', target, headers: { accept: 'application/json' } }, signal)
    const decoder = new TextDecoder()
    let refusal = ''
    for await (const bytes of answer.body) {
      const piece = decoder.decode(bytes, { stream: true })
      if (answer.status === 200) yield piece
      else refusal += piece
    }
    if (answer.status !== 200 && answer.status !== 404)
      throw new Error(`the server answered ${answer.status}: ${refusal.slice(0, 200)}`)
  } finally {
    await outbound.close()
  }
}
