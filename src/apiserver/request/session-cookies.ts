// The cookies of sessions of the web UI. Browsers accept the prefix `__Host-` only from this host, over HTTPS.

/** Followed by the port of the server. */
export const sessionCookiePrefix = '__Host-coxswain-ui-'

/** The Cookie header without sessions of the web UI, which other servers must not get; undefined if nothing remains. */
export function withoutSessions(cookies: string): string | undefined {
  const kept = cookies.split(';').filter((cookie) => !cookie.trim().startsWith(sessionCookiePrefix))
  return kept.length === 0 ? undefined : kept.join(';').trim()
}
