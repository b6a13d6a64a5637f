// The names of the OCI distribution specification: repositories, tags and digests. They become names of files, so only these
// functions make them.
import type { Brand } from '../../base/brand.ts'
import { RegistryError } from './registry-error.ts'

export type Repository = Brand<string, 'Repository'>
export type Tag = Brand<string, 'Tag'>
/** The hexadecimal digits of a SHA-256. */
export type Digest = Brand<string, 'Digest'>

const component = /^[a-z0-9]+(?:(?:\.|__?|-+)[a-z0-9]+)*$/
/** The name of its folder has at most 255 bytes. */
const repositoryCharactersMax = 200

export function repositoryOf(text: string): Repository {
  if (text.length > repositoryCharactersMax || !text.split('/').every((each) => component.test(each)))
    throw new RegistryError(
      400,
      'NAME_INVALID',
      `the name ${JSON.stringify(text)} must have at most ${repositoryCharactersMax} lower case letters, digits, and '.', '_', '-' and '/' between them`,
    )
  return text as Repository
}

/** `/` is not part of the name of a file, and `:` not of the name of a repository. */
export const folderOf = (repository: Repository): string => repository.replaceAll('/', ':')

const isTag = (text: string): text is Tag => /^\w[\w.-]{0,127}$/.test(text)

const digestPrefix = 'sha256:'

export const digestText = (digest: Digest): string => `${digestPrefix}${digest}`

export const isDigest = (hex: string): hex is Digest => /^[0-9a-f]{64}$/.test(hex)

export function digestOf(text: string): Digest {
  const hex = text.startsWith(digestPrefix) ? text.slice(digestPrefix.length) : ''
  if (!isDigest(hex))
    throw new RegistryError(400, 'DIGEST_INVALID', `the digest ${JSON.stringify(text)} is not sha256:<64 digits>`)
  return hex
}

export type Reference =
  | { readonly kind: 'tag'; readonly tag: Tag }
  | { readonly kind: 'digest'; readonly digest: Digest }

export function referenceOf(text: string): Reference {
  if (text.includes(':')) return { kind: 'digest', digest: digestOf(text) }
  if (!isTag(text))
    throw new RegistryError(
      400,
      'MANIFEST_INVALID',
      `the tag ${JSON.stringify(text)} must have at most 128 letters, digits, '.', '_' and '-'`,
    )
  return { kind: 'tag', tag: text }
}
