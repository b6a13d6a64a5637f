// ServiceAccountCredentials: tokens of ServiceAccounts, for components that act under an account of their own. A token is
// requested on first use and again well before it expires.
import type { Clock } from '../../base/time/clock.ts'
import { context } from '../../base/observability/context.ts'
import { getOrInsert } from '../../base/collections/get-or-insert.ts'
import { node } from '../../api/core/v1/node/node.ts'
import { serviceAccount } from '../../api/core/v1/service-account.ts'
import type { TokenRequest, TokenRequestSpec } from '../../api/authentication/v1/token-request.ts'
import { hasReason } from '../../api/errors/status-error.ts'
import { nodeAgentNamespace } from '../../apiserver/authorization/node/node-agents.ts'
import type { Client } from '../../client/client.ts'
import type { HttpsTransportOptions } from '../../client/transport/https-transport.ts'

const namespace = 'kube-system'
/** The longest that a node may request for its agents. */
const tokenSeconds = 3_600
/** The fraction of its lifetime after which a token is renewed. */
const renewAfter = 0.75

/** Requests a token of the account that is valid for `tokenSeconds`. */
type RequestToken = (account: string, signal: AbortSignal) => Promise<string>

interface Held {
  readonly token: Promise<string>
  readonly renewMs: number
}

export class ServiceAccountCredentials {
  readonly #request: RequestToken
  readonly #clock: Clock
  readonly #held = new Map<string, Held>()

  constructor(request: RequestToken, clock: Clock) {
    this.#request = request
    this.#clock = clock
  }

  /** What a client presents to act under the account. */
  of(account: string): Pick<HttpsTransportOptions, 'headers' | 'onUnauthorized'> {
    return {
      headers: (signal) => this.#headers(account, signal),
      // The token was rejected.
      onUnauthorized: () => void this.#held.delete(account),
    }
  }

  /** The authorization header of an account. Concurrent callers share one request. */
  async #headers(account: string, signal: AbortSignal): Promise<Readonly<Record<string, string>>> {
    const nowMs = this.#clock.monotonicMs()
    if ((this.#held.get(account)?.renewMs ?? Infinity) <= nowMs) this.#held.delete(account)
    const { token } = getOrInsert(this.#held, account, () => this.#ask(account, nowMs, signal))
    return { authorization: `Bearer ${await token}` }
  }

  #ask(account: string, nowMs: number, signal: AbortSignal): Held {
    const token = this.#request(account, signal)
    const held = { token, renewMs: nowMs + tokenSeconds * 1000 * renewAfter }
    token.catch(() => {
      if (this.#held.get(account) === held) this.#held.delete(account)
    })
    return held
  }
}

/** Tokens of controllers. `client` must be allowed to create accounts and request tokens; a missing account is created. */
export function controllerTokens(client: Client): RequestToken {
  const accounts = client.of(serviceAccount)
  const ask = (account: string, signal: AbortSignal) =>
    requestToken(client, namespace, account, { expirationSeconds: tokenSeconds }, signal)
  return async (account, signal) => {
    try {
      return await ask(account, signal)
    } catch (error) {
      if (!hasReason(error, 'NotFound')) throw error
      await accounts.create({ metadata: { name: account } }, namespace, context(signal)).catch((cause: unknown) => {
        if (!hasReason(cause, 'AlreadyExists')) throw cause
      })
      return ask(account, signal)
    }
  }
}

/** Tokens of the agents of a node, bound to it. `client` has the credentials of the node. */
export const nodeAgentTokens =
  (client: Client, nodeName: string): RequestToken =>
  async (account, signal) => {
    const { metadata } = await client.of(node).get(nodeName, '', context(signal))
    const boundObjectRef = { apiVersion: 'v1', kind: 'Node', name: nodeName, uid: metadata.uid }
    const spec = { boundObjectRef, expirationSeconds: tokenSeconds }
    return requestToken(client, nodeAgentNamespace, account, spec, signal)
  }

async function requestToken(
  client: Client,
  of: string,
  account: string,
  spec: Partial<TokenRequestSpec>,
  signal: AbortSignal,
): Promise<string> {
  const body = { spec: { audiences: [], ...spec } }
  const { status } = (await client
    .of(serviceAccount)
    .createSubresource(account, of, 'token', body, context(signal))) as TokenRequest
  if (status?.token === undefined) throw new Error(`the token of ${account} was requested but not returned`)
  return status.token
}
