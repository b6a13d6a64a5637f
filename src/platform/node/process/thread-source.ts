// What a thread is started with. The threads of an executable do not have its virtual file system, so their modules, which
// import nothing but modules of Node.js there, are passed as their content.
import { readFileSync } from 'node:fs'
import { isSea } from 'node:sea'

export const threadSource = (module: URL, isExecutable = isSea()): URL =>
  isExecutable ? new URL(`data:text/javascript;base64,${readFileSync(module).toString('base64')}`) : module
