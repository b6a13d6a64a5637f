// coxswain tools link: executables with the names of upstream's in a folder.
import { resolve } from 'node:path'
import { linkTools } from '../../cluster/tools/link-tools.ts'
import { nodePlatform } from '../../platform/node/platform.ts'
import { defineCommand, UsageError } from '../command/command.ts'
import { kubectlProgram } from '../command/kubectl-program.ts'
import { ownProgram } from '../command/own-program.ts'

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
    const kubectl = kubectlProgram(environment, path)
    const names = await linkTools(path, { program: ownProgram(environment), kubectl }, nodePlatform.files)
    out(`${path} has ${names.join(', ')}\n`)
    if (kubectl === undefined) out('there is no kubectl on the PATH, so it has none either\n')
    out(`for envtest: export KUBEBUILDER_ASSETS=${path}\n`)
    return 0
  },
})
