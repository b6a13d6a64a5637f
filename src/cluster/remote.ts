// Remote: an API server that a component of its own process reaches over HTTPS, by kubeconfig.
import { recordNameBytes } from '../api/flow-wire.ts'
import { realClock } from '../base/clock.ts'
import type { FlowRecorder } from '../base/flow.ts'
import type { Log } from '../base/log.ts'
import { systemRandom } from '../base/random.ts'
import { Client } from '../client/client.ts'
import { HttpsTransport, type HttpsTransportOptions } from '../client/https-transport.ts'
import { tellFlow } from '../client/flow-teller.ts'
import { answerQuestions } from '../client/question-answerer.ts'
import { readAccess } from '../client/kubeconfig.ts'
import type { Identity } from '../pki/authority.ts'
import { nodePlatform } from '../platform/node/platform.ts'
import type { Outbound } from '../platform/outbound.ts'
import { RenewableOutbound } from './renewable-outbound.ts'

export interface Remote extends AsyncDisposable {
  readonly server: string
  /** The authority of the server's certificate, as PEM. */
  readonly authority: string | undefined
  clientAs(sender: string): Client
  /** A client that shows nothing but these headers: a certificate would count before them. */
  clientWith(sender: string, shown: Pick<HttpsTransportOptions, 'headers' | 'onRefused'>): Client
  /** Tells the server what this process records, until the signal. */
  tellFlow(flow: FlowRecorder, log: Log, signal: AbortSignal): Promise<void>
  /** New connections from now on are made with this certificate. */
  renew(identity: Identity): void
  /** Answers the server's questions about decisions, until the signal. */
  answerQuestions(explain: (podKey: string) => object | undefined, log: Log, signal: AbortSignal): Promise<void>
  close(): Promise<void>
}

export async function openRemote(kubeconfig: string, signal: AbortSignal): Promise<Remote> {
  const parts = { files: nodePlatform.files, processes: nodePlatform.processes, clock: realClock }
  const { server, authority, certificate, key, headers } = await readAccess(kubeconfig, parts, signal)
  const connect = (identity: Partial<Identity>) =>
    nodePlatform.outbound.connect({
      origin: server,
      tls: { ...(authority === undefined ? {} : { authority }), ...identity },
    })
  const first = {
    ...(certificate === undefined ? {} : { certificate }),
    ...(key === undefined ? {} : { key }),
  }
  const [calls, watches] = [
    new RenewableOutbound(connect(first), realClock),
    new RenewableOutbound(connect(first), realClock),
  ]
  let bare: Outbound | undefined
  const close = async () => {
    await Promise.all([calls.close(), watches.close(), bare?.close()])
  }
  const record = Buffer.from(systemRandom.bytes(recordNameBytes)).toString('hex')
  const transportOf = (sender: string) => new HttpsTransport(calls, sender, { headers, watches, record })
  return {
    server,
    authority,
    clientAs: (sender) => new Client(transportOf(sender)),
    clientWith: (sender, shown) => new Client(new HttpsTransport((bare ??= connect({})), sender, { ...shown, record })),
    tellFlow(flow, log, stop) {
      const transport = transportOf('flow')
      const tell = transport.tellFlow.bind(transport)
      return tellFlow({ flow, record, tell, clock: realClock, log }, stop)
    },
    renew(identity) {
      for (const outbound of [calls, watches]) outbound.renew(connect(identity))
    },
    answerQuestions(explain, log, stop) {
      const transport = transportOf('scheduler')
      const questions = (signal: AbortSignal) => transport.decisionQuestions(signal)
      const answer = transport.answerDecision.bind(transport)
      return answerQuestions({ questions, answer, explain, clock: realClock, log }, stop)
    },
    close,
    [Symbol.asyncDispose]: close,
  }
}
