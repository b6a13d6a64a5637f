// ServiceAccountCredentials: tokens of ServiceAccounts, for controllers that act under their own account. A token is
// requested on first use and again well before it expires. A missing account is created.
import type { Clock } from '../../base/time/clock.ts'
import { context } from '../../base/observability/context.ts'
import { getOrInsert } from '../../base/collections/get-or-insert.ts'
import { serviceAccount } from '../../api/core/v1/service-account.ts'
import type { TokenRequest } from '../../api/authentication/v1/token-request.ts'
import { hasReason } from '../../api/errors/status-error.ts'
import type { Client } from '../../client/client.ts'

const namespace = 'kube-system'
const tokenSeconds = 3_600
/** The fraction of its lifetime after which a token is renewed. */
const renewAfter = 0.75

interface Held {
  readonly token: Promise<string>
  readonly renewMs: number
}

export class ServiceAccountCredentials {
  readonly #client: Client
  readonly #clock: Clock
  readonly #held = new Map<string, Held>()

  /** `client` must be allowed to create accounts and request tokens. */
  constructor(client: Client, clock: Clock) {
    this.#client = client
    this.#clock = clock
  }

  /** The authorization header of an account. Concurrent callers share one request. */
  async headers(account: string, signal: AbortSignal): Promise<Readonly<Record<string, string>>> {
    const nowMs = this.#clock.monotonicMs()
    if ((this.#held.get(account)?.renewMs ?? Infinity) <= nowMs) this.#held.delete(account)
    const { token } = getOrInsert(this.#held, account, () => this.#ask(account, nowMs, signal))
    return { authorization: `Bearer ${await token}` }
  }

  /** Drops a token that was rejected. */
  forget(account: string): void {
    this.#held.delete(account)
  }

  #ask(account: string, nowMs: number, signal: AbortSignal): Held {
    const token = this.#request(account, signal)
    const held = { token, renewMs: nowMs + tokenSeconds * 1000 * renewAfter }
    token.catch(() => {
      if (this.#held.get(account) === held) this.#held.delete(account)
    })
    return held
  }

  async #request(account: string, signal: AbortSignal): Promise<string> {
    const accounts = this.#client.of(serviceAccount)
    const ask = async () => {
      const body = { spec: { audiences: [], expirationSeconds: tokenSeconds } }
      const { status } = (await accounts.createSubresource(
        account,
        namespace,
        'token',
        body,
        context(signal),
      )) as TokenRequest
      if (status?.token === undefined) throw new Error(`the token of ${account} was requested but not returned`)
      return status.token
    }
    try {
      return await ask()
    } catch (error) {
      if (!hasReason(error, 'NotFound')) throw error
      await accounts.create({ metadata: { name: account } }, namespace, context(signal)).catch((cause: unknown) => {
        if (!hasReason(cause, 'AlreadyExists')) throw cause
      })
      return ask()
    }
  }
}
