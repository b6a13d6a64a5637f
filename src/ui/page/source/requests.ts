// Requests to the cluster. The session is a cookie; the header shows the server that a request is the page's own.

/** Sent with every request that changes something, so that other sites cannot send it with the user's cookie. */
export const uiHeaders: Readonly<Record<string, string>> = { 'X-Coxswain-UI': '1' }

export async function fetchOk(path: string, init: RequestInit = {}): Promise<Response> {
  const response = await fetch(path, { credentials: 'same-origin', ...init })
  if (response.ok) return response
  const text = await response.text()
  throw new Error(messageOf(text) ?? `${response.status} ${response.statusText}`)
}

export async function fetchJson<T>(path: string, init: RequestInit = {}): Promise<T> {
  return (await (await fetchOk(path, init)).json()) as T
}

/** The message of a Status. */
function messageOf(text: string): string | undefined {
  try {
    return (JSON.parse(text) as { message?: string }).message
  } catch {
    return undefined
  }
}

/** Exchanges the one-time code of a login link for a session. */
export async function logIn(code: string): Promise<void> {
  const headers = { 'content-type': 'application/json', ...uiHeaders }
  await fetchOk('/ui/session', { method: 'POST', headers, body: JSON.stringify({ code }) })
}
