// coxswain tools link: executables with the names of upstream's in a folder.
import { existsSync, globSync } from 'node:fs'
import { delimiter, join, resolve } from 'node:path'
import { linkTools } from '../../cluster/tools/link-tools.ts'
import { nodePlatform } from '../../platform/node/platform.ts'
import { defineCommand, UsageError } from '../command/command.ts'
import { ownProgram } from '../command/own-program.ts'

type Environment = Readonly<Record<string, string | undefined>>

export const tools = defineCommand({
  name: 'tools',
  summary: "makes executables with the names of upstream's, for programs such as envtest that start them",
  operands: 'link <folder>',
  operandValues: () => ['link'],
  operandsMax: 2,
  options: {},
  async run({ operands: [action, folder] }, { out, environment }) {
    if (action !== 'link' || folder === undefined) throw new UsageError('the operands are: link <folder>')
    const path = resolve(folder)
    const kubectl = kubectlOf(environment, path)
    const names = await linkTools(path, { program: ownProgram(environment), kubectl }, nodePlatform.files)
    out(`${path} has ${names.join(', ')}\n`)
    if (kubectl === undefined) out('there is no kubectl on the PATH, so it has none either\n')
    out(`for envtest: export KUBEBUILDER_ASSETS=${path}\n`)
    return 0
  },
})

/** That of the PATH, or the one that the setup of a checkout has fetched. Not one in the folder itself. */
function kubectlOf({ PATH = '', COXSWAIN_CHECKOUT: checkout }: Environment, folder: string): string | undefined {
  const fetched = checkout === undefined ? [] : globSync(join(checkout, '.cache/kubectl/*/kubectl'))
  const onPath = PATH.split(delimiter)
    .filter((directory) => directory !== '' && resolve(directory) !== folder)
    .map((directory) => join(directory, 'kubectl'))
  return [...fetched.toSorted().toReversed(), ...onPath].find((path) => existsSync(path))
}
