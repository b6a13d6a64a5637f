// The recorded flow events of a cluster that runs elsewhere.
import { flowEventsPath } from '../api/flow-wire.ts'
import { nodePlatform } from '../platform/node/platform.ts'
import { parseKubeconfig } from '../pki/kubeconfig.ts'
import type { FlowEvent } from '../base/flow.ts'

export async function fetchFlowEvents(kubeconfig: string, signal: AbortSignal): Promise<FlowEvent[]> {
  const { server, authority, identity } = parseKubeconfig(kubeconfig)
  const outbound = nodePlatform.outbound.connect({
    origin: server,
    tls: { authority, certificate: identity.certificate, key: identity.key },
  })
  try {
    const answer = await outbound.send(
      { method: 'GET', target: flowEventsPath, headers: { accept: 'application/json' } },
      signal,
    )
    const decoder = new TextDecoder()
    let text = ''
    for await (const piece of answer.body) text += decoder.decode(piece, { stream: true })
    if (answer.status !== 200) throw new Error(`the server answered ${answer.status}: ${text.slice(0, 200)}`)
    return (JSON.parse(text) as { events: FlowEvent[] }).events
  } finally {
    await outbound.close()
  }
}
