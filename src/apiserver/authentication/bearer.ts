// Bearer tokens: what stands in the Authorization header goes to whoever knows tokens of its sort.
import { firstToKnow, refused, unknown, type Authenticator, type TokenAuthenticator } from './authenticator.ts'

export const bearer = (tokens: TokenAuthenticator, audiences: readonly string[]): Authenticator => ({
  name: 'bearer',
  authenticate({ headers }, signal) {
    const token = /^bearer +(\S.*?)\s*$/i.exec(headers['authorization'] ?? '')?.[1]
    if (token === undefined) return unknown
    const answer = tokens.authenticateToken(token, audiences, signal)
    const known = (result: Awaited<typeof answer>) =>
      result.kind === 'unknown' ? refused('invalid bearer token') : result
    return answer instanceof Promise ? answer.then(known) : known(answer)
  },
})

/** Asks one after the other; a token that none knows is nobody's. */
export const anyToken = (authenticators: readonly TokenAuthenticator[]): TokenAuthenticator => ({
  name: 'tokens',
  authenticateToken: (token, audiences, signal) =>
    firstToKnow(authenticators, (each) => each.authenticateToken(token, audiences, signal)),
})
