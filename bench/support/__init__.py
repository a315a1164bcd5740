# SPDX-License-Identifier: Apache-2.0
"""What the benches share: figures and tables, a broker of their own, worker programs, paired rounds."""
