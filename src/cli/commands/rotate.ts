// coxswain rotate: replaces the keys of a cluster while it runs.
import { systemRandom } from '../../base/random/random.ts'
import { realClock } from '../../base/time/clock.ts'
import { openRemote } from '../../cluster/client/remote.ts'
import { readServerFile } from '../../cluster/data-directory/server-files.ts'
import {
  accountKeyFile,
  retireAccountKeys,
  rotateAccountKey,
  type RotateDeps,
} from '../../cluster/rotation/rotate-account-key.ts'
import { nodePlatform } from '../../platform/node/platform.ts'
import { defineCommand, UsageError, type Terminal } from '../command/command.ts'
import { chooseCluster, withReachabilityHint } from '../options/choose-cluster.ts'
import { dataDirectoryOf, dataDirectoryOptions } from '../options/data-directory-option.ts'

const accountKey = 'service-account-key'

export const rotate = defineCommand({
  name: 'rotate',
  summary: 'replaces the key that signs ServiceAccount tokens, on all servers, while they run',
  operands: accountKey,
  operandValues: () => [accountKey],
  operandsMax: 1,
  options: {
    ...dataDirectoryOptions,
    retire: {
      type: 'boolean',
      help: 'makes no new key: tokens of earlier keys are no longer accepted. Kubelets renew those of pods within an hour of a rotation',
    },
    force: { type: 'boolean', help: 'with --retire: also if Secrets have tokens of earlier keys' },
  },
  async run({ operands: [what], options: { 'data-dir': named, retire = false, force = false } }, terminal) {
    if (what !== accountKey) throw new UsageError(`the operand is what to rotate: ${accountKey}`)
    if (force && !retire) throw new UsageError('--force has no effect without --retire')
    const { environment, signal } = terminal
    const directory = dataDirectoryOf(named, environment)
    const cluster = await chooseCluster({ kubeconfig: `${directory}/admin.kubeconfig` }, environment)
    return withReachabilityHint(cluster, async () => {
      await using remote = await openRemote(cluster.kubeconfig, signal)
      const [authorityKey, initial] = await Promise.all(
        ['ca.key', accountKeyFile].map((name) => readServerFile(directory, name)),
      )
      const deps = {
        client: remote.clientAs('coxswain rotate'),
        clock: realClock,
        random: systemRandom,
        crypto: nodePlatform.crypto,
        authorityKey: authorityKey ?? '',
        initial: initial ?? '',
        onProgress: (text: string) => terminal.err(`coxswain rotate: ${text}\n`),
      }
      return retire ? await retireKeys({ ...deps, force }, terminal) : await rotateKey(deps, terminal)
    })
  },
})

async function rotateKey(deps: RotateDeps, { out, signal }: Terminal): Promise<number> {
  await rotateAccountKey(deps, signal)
  out(
    'A new key signs ServiceAccount tokens. Those of the earlier key are accepted until: coxswain rotate service-account-key --retire\n',
  )
  return 0
}

async function retireKeys(deps: RotateDeps & { readonly force: boolean }, { out, signal }: Terminal): Promise<number> {
  const count = await retireAccountKeys(deps, signal)
  out(
    count === 0
      ? 'There are no earlier keys whose tokens are accepted.\n'
      : `Tokens of ${count === 1 ? 'the earlier key' : `${count} earlier keys`} are no longer accepted.\n`,
  )
  return 0
}
