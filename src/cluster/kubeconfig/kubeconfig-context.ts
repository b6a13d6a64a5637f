// Selects a context of a kubeconfig: the current one, or the one of this name.
import { isAbsolute, join } from 'node:path'
import { lookup } from '../../base/collections/lookup.ts'
import { didYouMean, similarNames } from '../../base/text/similar-names.ts'
import { KubeconfigError } from '../../client/transport/kubeconfig-access.ts'

export interface KubeconfigSource {
  readonly text: string
  /** How messages name it: its path, usually. */
  readonly path: string
  /** Its directory, from which the paths of other files in it start. */
  readonly directory: string
}

export interface KubeconfigContext {
  /** A kubeconfig whose current context is this one and whose paths are absolute. */
  readonly kubeconfig: string
  /** Its name. */
  readonly context: string
  /** The address of the API server; empty if the kubeconfig has none. */
  readonly server: string
  /** The default namespace. */
  readonly namespace: string
  /** All contexts of the kubeconfig. */
  readonly contexts: readonly ContextNames[]
}

export interface ContextNames {
  readonly name: string
  readonly cluster: string
  readonly user: string
  readonly namespace: string
}

/** The fields of a kubeconfig that identify a cluster, and those that name files. */
interface Kubeconfig {
  readonly 'current-context'?: string
  readonly contexts?: readonly {
    readonly name?: string
    readonly context?: { readonly cluster?: string; readonly user?: string; readonly namespace?: string }
  }[]
  readonly clusters?: readonly { readonly name?: string; readonly cluster?: Fields | null | undefined }[] | null
  readonly users?: readonly { readonly name?: string; readonly user?: Fields | null | undefined }[] | null
}

type Fields = Readonly<Record<string, unknown>>

export async function selectContext(source: KubeconfigSource, name?: string): Promise<KubeconfigContext> {
  const { path, directory } = source
  const { stringify } = await import('yaml')
  const config = await parsed(source)
  const contexts = config.contexts ?? []
  const context = name ?? config['current-context'] ?? ''
  const chosen = contexts.find((each) => each.name === context)?.context
  if (name !== undefined && chosen === undefined) {
    const names = contexts.map((each) => each.name ?? '')
    const question = didYouMean(similarNames(name, names))
    throw new KubeconfigError(
      `${path} has no context ${JSON.stringify(name)}; ${question || `it has ${names.join(', ') || 'none'}`}`,
    )
  }
  const server = lookup(config.clusters?.find((each) => each.name === chosen?.cluster)?.cluster ?? {}, 'server')
  return {
    kubeconfig: stringify({ ...config, 'current-context': context, ...withAbsolutePaths(config, directory) }),
    context,
    server: typeof server === 'string' ? server : '',
    namespace: chosen?.namespace ?? 'default',
    contexts: contexts.map(({ name: each = '', context: { cluster = '', user = '', namespace = 'default' } = {} }) => ({
      name: each,
      cluster,
      user,
      namespace,
    })),
  }
}

async function parsed({ text, path }: KubeconfigSource): Promise<Kubeconfig> {
  const { parseDocument } = await import('yaml')
  // The message of the parser is left out: it quotes the text, which contains credentials.
  const document = parseDocument(text, { prettyErrors: true })
  const [error] = document.errors
  if (error !== undefined) throw new KubeconfigError(`${path} is not YAML: error in line ${error.linePos?.[0].line}`)
  const config = document.toJS() as unknown
  if (config === null) return {}
  if (typeof config !== 'object' || Array.isArray(config)) throw new KubeconfigError(`${path} is not a kubeconfig`)
  return config
}

/** As kubectl: paths of files are relative to the directory of the kubeconfig. */
function withAbsolutePaths({ clusters, users }: Kubeconfig, directory: string): Pick<Kubeconfig, 'clusters' | 'users'> {
  const absolute = (value: unknown) =>
    typeof value === 'string' && value !== '' && !isAbsolute(value) ? join(directory, value) : value
  const inFields = (fields: Fields, names: readonly string[]): Fields =>
    Object.fromEntries(
      Object.entries(fields).map(([name, value]) => [name, names.includes(name) ? absolute(value) : value]),
    )
  const ofUser = (user: Fields): Fields => {
    const exec = user['exec'] as Fields | undefined
    const command = exec?.['command']
    // A command without a slash is one of the PATH.
    const isPath = typeof command === 'string' && command.includes('/')
    return {
      ...inFields(user, ['client-certificate', 'client-key', 'tokenFile']),
      ...(isPath ? { exec: inFields(exec ?? {}, ['command']) } : {}),
    }
  }
  return {
    ...(clusters && {
      clusters: clusters.map((each) => ({
        ...each,
        cluster: each.cluster && inFields(each.cluster, ['certificate-authority']),
      })),
    }),
    ...(users && { users: users.map((each) => ({ ...each, user: each.user && ofUser(each.user) })) }),
  }
}
