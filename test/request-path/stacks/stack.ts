// Stack: a client, or a way of sending bytes, of which every request must have exactly one complete response.
import type { Access } from '../../access.ts'

export interface Target {
  readonly access: Access
  readonly kubeconfig: string
  /** Of an account that may read and create the ConfigMaps, for clients without certificates. */
  readonly token: string
  /** For files of programs; it contains `ca.pem`, `cert.pem` and `key.pem`. */
  readonly folder: string
}

export interface Stack {
  readonly name: string
  /** Of all requests, the part that it sends. */
  readonly part: number
  /** Sends `count` requests, or a few more; throws at the first response that is missing or not the one to its request. */
  run(target: Target, count: number): Promise<Sent>
}

export interface Sent {
  /** Requests whose response has been read. */
  readonly answered: number
  /** Further requests, whose client did not wait for the response. */
  readonly left: number
}
