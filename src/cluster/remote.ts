// Remote: an API server that a component of its own process reaches over HTTPS, by kubeconfig.
import { realClock } from '../base/clock.ts'
import { Client } from '../client/client.ts'
import { HttpsTransport } from '../client/https-transport.ts'
import { readAccess } from '../client/kubeconfig.ts'
import { nodePlatform } from '../platform/node/platform.ts'

export interface Remote extends AsyncDisposable {
  readonly server: string
  /** The authority of the server's certificate, as PEM. */
  readonly authority: string | undefined
  clientAs(sender: string): Client
  close(): Promise<void>
}

export async function openRemote(kubeconfig: string, signal: AbortSignal): Promise<Remote> {
  const parts = { files: nodePlatform.files, processes: nodePlatform.processes, clock: realClock }
  const { server, authority, certificate, key, headers } = await readAccess(kubeconfig, parts, signal)
  const tls = {
    ...(authority === undefined ? {} : { authority }),
    ...(certificate === undefined ? {} : { certificate }),
    ...(key === undefined ? {} : { key }),
  }
  const connect = () => nodePlatform.outbound.connect({ origin: server, tls })
  const [calls, watches] = [connect(), connect()]
  const close = async () => {
    await Promise.all([calls.close(), watches.close()])
  }
  return {
    server,
    authority,
    clientAs: (sender) => new Client(new HttpsTransport(calls, sender, { headers, watches })),
    close,
    [Symbol.asyncDispose]: close,
  }
}
