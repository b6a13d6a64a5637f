// Static tokens: a file of lines `token,user,uid,"group,group"`, read once at the start.
import type { CryptoProvider } from '../../platform/crypto/crypto.ts'
import type { User } from '../request/request.ts'
import { authenticated, commonAudiences, rejected, unknown, type TokenAuthenticator } from './authenticator.ts'

/** Users are stored by the digest of their tokens, so that the time of a lookup reveals nothing about tokens. */
export function tokenFile(text: string, ownAudiences: readonly string[], crypto: CryptoProvider): TokenAuthenticator {
  const users = new Map<string, User>()
  for (const [index, line] of text.split('\n').entries()) {
    if (line.trim() === '') continue
    const [token = '', name = '', uid = '', groups = ''] = fieldsOf(line)
    if (token === '' || name === '') throw new Error(`line ${index + 1} of the token file must have a token and a user`)
    const names = groups.split(',').flatMap((group) => (group.trim() === '' ? [] : [group.trim()]))
    users.set(crypto.sha256(token).toBase64(), { name, uid, groups: names, extra: {} })
  }
  return {
    name: 'tokenFile',
    authenticateToken(token, audiences) {
      const user = users.get(crypto.sha256(token).toBase64())
      if (user === undefined) return unknown
      const common = commonAudiences(audiences, ownAudiences)
      return common.length === 0 ? rejected('the token is not meant for these audiences') : authenticated(user, common)
    },
  }
}

/** Fields of a CSV line; a quoted field may contain commas and doubled quotes. */
const fieldsOf = (line: string): string[] =>
  [...line.matchAll(/(?:^|,)\s*(?:"((?:[^"]|"")*)"|([^,]*))/g)].map(
    ([, quoted, plain = '']) => quoted?.replaceAll('""', '"') ?? plain.trim(),
  )
