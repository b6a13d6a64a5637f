// What schedulers of other API servers have decided: only the server in whose process a scheduler runs knows it.
import type { Clock } from '../../base/time/clock.ts'
import { decisionsPath, ownRecordParameter } from '../../api/coxswain/v1/flow-protocol.ts'
import type { PeerServer, PeerServers } from './peer-servers.ts'

/** How long servers may take. */
export const answerMsMax = 2_000
/** Of one response. With 5,000 nodes a decision has about 2 million characters. */
const answerCharsMax = 32 * 1024 * 1024

/** Undefined if no other server has a decision about the pod, or none answers in time. */
export async function decisionOfPeers(
  podKey: string,
  peers: Pick<PeerServers, 'list' | 'read'>,
  clock: Clock,
  signal: AbortSignal,
): Promise<object | undefined> {
  const ended = new AbortController()
  const timer = clock.after(answerMsMax, () => ended.abort(new Error(`no answer within ${answerMsMax} ms`)))
  const either = AbortSignal.any([signal, ended.signal])
  const target = `${decisionsPath}${podKey.split('/').map(encodeURIComponent).join('/')}?${ownRecordParameter}=true`
  try {
    const found = await peers.list(either)
    const reachable = found.filter(({ origin }) => origin !== undefined)
    return await Promise.any(reachable.map((peer) => decisionOf(peer, target, peers, either)))
  } catch {
    // A server without the decision answers 404, and the others are down: the pod has no known decision.
    signal.throwIfAborted()
    return undefined
  } finally {
    timer.cancel()
    ended.abort()
  }
}

async function decisionOf(
  peer: PeerServer,
  target: string,
  peers: Pick<PeerServers, 'read'>,
  signal: AbortSignal,
): Promise<object> {
  let text = ''
  for await (const piece of peers.read(peer, target, signal)) {
    text += piece
    if (text.length > answerCharsMax) throw new Error(`${peer.name} sends more than ${answerCharsMax} characters`)
  }
  return JSON.parse(text) as object
}
