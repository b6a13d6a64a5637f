// Requests to the cluster. The session is a cookie; the header shows the server that a request is the page's own.

/** Sent with every request that changes something, so that other sites cannot send it with the user's cookie. */
export const uiHeaders: Readonly<Record<string, string>> = { 'X-Coxswain-UI': '1' }

export async function fetchOk(path: string, init: RequestInit = {}): Promise<Response> {
  const response = await fetch(path, { credentials: 'same-origin', ...init })
  if (response.ok) return response
  throw requestError(response.status, response.statusText, await response.text())
}

/** A field that the server rejects, and why in its words: of a conflict the owner of the field. */
export interface RejectedField {
  readonly field: string
  readonly message: string
}

/** A request that the server rejected. */
export class RequestError extends Error {
  readonly code: number
  /** The fields that the server has rejected. */
  readonly fields: readonly RejectedField[]
  /** Those of them that another manager owns, which an apply would change. */
  readonly conflicts: readonly RejectedField[]

  constructor(code: number, message: string, causes: readonly Cause[]) {
    super(message)
    this.code = code
    const named = causes.filter(({ field = '' }) => field !== '')
    this.fields = named.map(rejectedField)
    this.conflicts = named.filter(({ reason }) => reason === 'FieldManagerConflict').map(rejectedField)
  }
}

/** Every user with a session may read the stream of events: without one the request is anonymous, or rejected. */
export const isSignedOut = (error: unknown): boolean =>
  error instanceof RequestError && (error.code === 401 || error.code === 403)

export async function fetchJson<T>(path: string, init: RequestInit = {}): Promise<T> {
  return (await (await fetchOk(path, init)).json()) as T
}

const rejectedField = ({ field = '', message = '' }: Cause): RejectedField => ({ field, message })

interface Cause {
  readonly reason?: string
  readonly field?: string
  readonly message?: string
}

/** The error of a response, which is a Status unless something between the page and the server responded. */
export function requestError(code: number, codeText: string, body: string): RequestError {
  let status: { message?: string; details?: { causes?: readonly Cause[] } } = {}
  try {
    status = JSON.parse(body) as typeof status
  } catch {
    // The status line says what is known.
  }
  return new RequestError(code, status.message ?? `${code} ${codeText}`, status.details?.causes ?? [])
}

/** Exchanges the one-time code of a login link for a session. */
export async function logIn(code: string): Promise<void> {
  const headers = { 'content-type': 'application/json', ...uiHeaders }
  await fetchOk('/ui/session', { method: 'POST', headers, body: JSON.stringify({ code }) })
}
