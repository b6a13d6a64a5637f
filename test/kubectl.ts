// The real kubectl of this machine, in every version that the set-up found or fetched.
import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
// @ts-expect-error -- plain JavaScript: it runs before the packages are there
import { findKubectls } from '../scripts/kubectl.mjs'

const root = fileURLToPath(new URL('..', import.meta.url))

export interface Kubectl {
  readonly version: string
  readonly path: string
}

/** Every kubectl, oldest first. A machine without one fails the run: nothing is skipped in silence. */
export function kubectls(): readonly Kubectl[] {
  const found = (findKubectls as (root: string) => Kubectl[])(root)
  if (found.length === 0) throw new Error('there is no kubectl 1.27 or newer; run: npm run setup')
  return found
}

export interface Printed {
  readonly code: number
  readonly out: string
  readonly err: string
}

/** What a command waits for comes within 200 s, as commands are told, or not at all. */
/** The metrics of a server are some megabytes. */
const outputBytesMax = 64 << 20
const commandMsMax = 240_000

/**
 * What kubectl goes by. What it remembers of a server lies beside the kubeconfig: elsewhere it is remembered by the port, for
 * hours, and the next server that has the port may serve other groups.
 */
export const kubectlEnvironment = (kubeconfig: string): NodeJS.ProcessEnv => ({
  ...process.env,
  KUBECONFIG: kubeconfig,
  KUBECACHEDIR: `${kubeconfig}.cache`,
})

export interface KubectlOptions {
  readonly input?: string
  readonly folder?: string
  readonly editor?: string
  readonly environment?: Readonly<Record<string, string>>
}

export const runKubectl = (
  { path }: Kubectl,
  kubeconfig: string,
  args: readonly string[],
  { input = '', folder = '.', editor = 'true', environment = {} }: KubectlOptions = {},
): Promise<Printed> =>
  new Promise((resolve) => {
    const env = { ...kubectlEnvironment(kubeconfig), ...environment, EDITOR: editor }
    const child = execFile(
      path,
      args,
      { env, cwd: folder, timeout: commandMsMax, maxBuffer: outputBytesMax },
      (error, out, err) => resolve({ code: error === null ? 0 : Number(error.code ?? 1), out, err }),
    )
    child.stdin?.on('error', () => {}) // a command need not read its input
    child.stdin?.end(input)
  })
