// Credentials for registries, from the pull secrets of a pod.
import type { Secret } from '../../api/core/v1/secret.ts'
import type { ImageCredentials } from '../../machine/runtime/container-runtime.ts'

interface DockerAuth {
  readonly auth?: string
  readonly username?: string
  readonly password?: string
  readonly registrytoken?: string
}

const dockerHub = 'docker.io'

/** The registry of an image: the first component of its name if that is a host, otherwise Docker Hub. */
export function registryOf(image: string): string {
  const [first = '', ...rest] = image.split('/')
  const isHost = rest.length > 0 && (first.includes('.') || first.includes(':') || first === 'localhost')
  return isHost ? first : dockerHub
}

/** All credentials that match the image's registry, in the order of the secrets. */
export function credentialsFor(image: string, secrets: readonly Secret[]): ImageCredentials[] {
  const registry = registryOf(image)
  return secrets.flatMap((secret) =>
    Object.entries(authsOf(secret))
      .filter(([name]) => hostOf(name) === registry)
      .flatMap(([, auth]) => credentialOf(auth) ?? []),
  )
}

function authsOf({ data = {} }: Secret): Readonly<Record<string, DockerAuth>> {
  const modern = data['.dockerconfigjson']
  const old = data['.dockercfg']
  try {
    if (modern !== undefined) return (parseBase64Json(modern) as { auths?: Record<string, DockerAuth> }).auths ?? {}
    return old === undefined ? {} : (parseBase64Json(old) as Record<string, DockerAuth>)
  } catch {
    return {} // an invalid secret provides no credentials; the pull reports the failure
  }
}

const parseBase64Json = (base64: string): unknown => JSON.parse(new TextDecoder().decode(Uint8Array.fromBase64(base64)))

function hostOf(name: string): string {
  const host = name.replace(/^https?:\/\//, '').split('/')[0] ?? ''
  return host === 'index.docker.io' ? dockerHub : host
}

function credentialOf({ auth, username, password, registrytoken }: DockerAuth): ImageCredentials | undefined {
  if (registrytoken !== undefined) return { username: '', password: '', registryToken: registrytoken }
  if (username !== undefined && password !== undefined) return { username, password }
  if (auth === undefined) return undefined
  const [user = '', ...rest] = atob(auth).split(':')
  return { username: user, password: rest.join(':') }
}
