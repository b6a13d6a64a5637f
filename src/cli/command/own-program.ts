// How this program is started: the launcher of a checkout, or this Node.js with the program of the package.
export const ownProgram = ({ COXSWAIN_CHECKOUT: checkout }: Readonly<Record<string, string | undefined>>): string[] =>
  checkout === undefined ? [process.execPath, ...process.execArgv, process.argv[1] ?? ''] : [`${checkout}/bin/coxswain`]
