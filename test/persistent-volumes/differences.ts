// Scenarios whose states differ from upstream's, each with the reason.
export const differences: readonly { readonly scenario: string; readonly why: string }[] = [
  {
    scenario: 'Delete, a directory in /tmp',
    why: 'upstream deletes the directory on the machine of the controller manager; ours deletes no directories, and the volume is Failed',
  },
  {
    scenario: 'Recycle, a hostPath',
    why: 'upstream starts a pod that deletes all files; ours does not recycle volumes, and the volume is Failed',
  },
]
