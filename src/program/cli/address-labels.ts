import { UserError } from '../../base/errors/rule-error.js'
import { addressOfLabel, type Labels, labelsPath, readLabels } from '../../clients/wallet/labels.js'
import { defaultWalletFile, type WalletOptions } from './command-options.js'

type Named = Pick<WalletOptions, 'wallet' | 'devnetAccount'>

/** The labels beside the keystore that the options name; none for an account of a devnet, which has no keystore. */
export function labelsOf({ wallet = defaultWalletFile, devnetAccount }: Named): Labels {
  return devnetAccount === undefined ? readLabels(labelsPath(wallet)) : new Map<string, string>()
}

/** The address that a label names; a {@link UserError} with exit code 2 where none does. */
export function labelledAddress(options: Named, label: string): string {
  const address = addressOfLabel(labelsOf(options), label)
  if (address !== undefined) return address
  const { wallet = defaultWalletFile, devnetAccount } = options
  const none =
    devnetAccount === undefined
      ? `and no label in ${labelsPath(wallet)}`
      : 'and --devnet-account has no keystore beside which labels are kept'
  const shown = label.slice(0, 100)
  throw new UserError(`--to ${shown}: Not an address (34 characters with a right checksum), ${none}`, 2)
}
