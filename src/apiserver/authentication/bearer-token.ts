// Bearer tokens: passes the token of the Authorization header to the token authenticators.
import { firstAuthenticated, rejected, unknown, type Authenticator, type TokenAuthenticator } from './authenticator.ts'

export const bearerToken = (tokens: TokenAuthenticator, audiences: readonly string[]): Authenticator => ({
  name: 'bearer',
  authenticate({ headers }, signal) {
    const token = tokenIn(headers['authorization'] ?? '')
    if (token === '') return unknown
    const answer = tokens.authenticateToken(token, audiences, signal)
    const known = (result: Awaited<typeof answer>) =>
      result.kind === 'unknown' ? rejected('invalid bearer token') : result
    return answer instanceof Promise ? answer.then(known) : known(answer)
  },
})

const scheme = 'bearer '

const tokenIn = (authorization: string): string =>
  authorization.slice(0, scheme.length).toLowerCase() === scheme ? authorization.slice(scheme.length).trim() : ''

/** Tries the token authenticators in order. */
export const tokenAuthenticators = (authenticators: readonly TokenAuthenticator[]): TokenAuthenticator => ({
  name: 'tokens',
  authenticateToken: (token, audiences, signal) =>
    firstAuthenticated(authenticators, (each) => each.authenticateToken(token, audiences, signal)),
})
