// UiSessions: one-time codes and sessions of the web UI, in memory. A code is exchanged once for a session. Only digests
// are stored, so that the time of a lookup reveals nothing about a code or a token.
import type { Random } from '../../base/random/random.ts'
import type { Clock } from '../../base/time/clock.ts'
import type { User } from '../request/request.ts'
import { ownerOf } from '../request/user-names.ts'

export interface UiSessionDeps {
  readonly clock: Clock
  readonly random: Random
  readonly digest: (text: string) => string
}

export const codeMsMax = 60_000
export const sessionMsMax = 8 * 3_600_000
/** Beyond the limits of one owner, its oldest ones end. Beyond those of all, the oldest ones of the owner with the most end. */
export const codesMax: EntryLimits = { perOwner: 10, total: 500 }
export const sessionsMax: EntryLimits = { perOwner: 20, total: 1_000 }
const secretBytes = 32

interface EntryLimits {
  readonly perOwner: number
  readonly total: number
}

interface Entry {
  readonly user: User
  readonly owner: string
  readonly endMs: number
}

export class UiSessions {
  readonly #deps: UiSessionDeps
  // Entries are in the order in which they end.
  readonly #codes = new Map<string, Entry>()
  readonly #sessions = new Map<string, Entry>()

  constructor(deps: UiSessionDeps) {
    this.#deps = deps
  }

  /** A code that opens one session of the user within a minute. */
  issueCode(user: User): string {
    return this.#add(this.#codes, user, codeMsMax, codesMax)
  }

  /** The token of a new session; undefined if the code is unknown, used or too old. */
  open(code: string): string | undefined {
    const key = this.#deps.digest(code)
    const entry = this.#current(this.#codes, key)
    this.#codes.delete(key)
    return entry === undefined ? undefined : this.#add(this.#sessions, entry.user, sessionMsMax, sessionsMax)
  }

  /** Undefined if the session is unknown or has ended. */
  userOf(token: string): User | undefined {
    return this.#current(this.#sessions, this.#deps.digest(token))?.user
  }

  close(token: string): void {
    this.#sessions.delete(this.#deps.digest(token))
  }

  #add(entries: Map<string, Entry>, user: User, lifetimeMs: number, limits: EntryLimits): string {
    const { clock, random, digest } = this.#deps
    const nowMs = clock.nowMs()
    for (const [key, { endMs }] of entries) {
      if (endMs > nowMs) break
      entries.delete(key)
    }
    const owner = ownerOf(user)
    makeSpace(entries, owner, limits)
    const secret = random.bytes(secretBytes).toBase64({ alphabet: 'base64url', omitPadding: true })
    entries.set(digest(secret), { user, owner, endMs: nowMs + lifetimeMs })
    return secret
  }

  #current(entries: ReadonlyMap<string, Entry>, key: string): Entry | undefined {
    const entry = entries.get(key)
    return entry !== undefined && entry.endMs > this.#deps.clock.nowMs() ? entry : undefined
  }
}

/** Removes entries until the owner may have one more. */
function makeSpace(entries: Map<string, Entry>, owner: string, { perOwner, total }: EntryLimits): void {
  const counts = new Map<string, number>()
  for (const entry of entries.values()) counts.set(entry.owner, (counts.get(entry.owner) ?? 0) + 1)
  if ((counts.get(owner) ?? 0) >= perOwner) removeOldest(entries, owner)
  else if (entries.size >= total) {
    let most = owner
    for (const [each, count] of counts) if (count > (counts.get(most) ?? 0)) most = each
    removeOldest(entries, most)
  }
}

function removeOldest(entries: Map<string, Entry>, owner: string): void {
  for (const [key, entry] of entries) if (entry.owner === owner) return void entries.delete(key)
}
